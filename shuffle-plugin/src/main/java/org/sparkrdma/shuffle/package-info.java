// SPDX-License-Identifier: Apache-2.0
/**
 * The classes that Spark loads: {@link org.sparkrdma.shuffle.RdmaShuffleManager}, and {@link
 * org.sparkrdma.shuffle.RdmaPlugin}, which sets it or works beside another shuffle manager.
 *
 * <p>Spark calls them from task threads and its dispatcher. They start and stop {@link
 * org.sparkrdma.shuffle.PluginParts}: the {@code RdmaRuntime} of an executor, and the parts of the
 * driver.
 */
package org.sparkrdma.shuffle;
