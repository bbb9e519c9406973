// SPDX-License-Identifier: Apache-2.0
/**
 * The classes that Spark loads: {@link org.sparkrdma.shuffle.RdmaShuffleManager}, and {@link
 * org.sparkrdma.shuffle.RdmaPlugin}, which sets it or works beside another shuffle manager.
 *
 * <p>Spark calls them from task threads and its dispatcher. They start and stop {@link
 * org.sparkrdma.shuffle.ExecutorSide} on an executor, and {@link
 * org.sparkrdma.shuffle.driver.DriverSide} on the driver.
 */
package org.sparkrdma.shuffle;
