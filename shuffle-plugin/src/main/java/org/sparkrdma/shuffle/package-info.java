// SPDX-License-Identifier: Apache-2.0
/**
 * The class that Spark loads: {@link org.sparkrdma.shuffle.RdmaShuffleManager}.
 *
 * <p>Spark calls it from task threads and its dispatcher. It starts and stops the {@code
 * RdmaRuntime} of its executor, and the parts of the driver.
 */
package org.sparkrdma.shuffle;
