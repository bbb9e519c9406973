/**
 * What Spark loads: {@link org.sparkrdma.shuffle.RdmaShuffleManager}, and the {@code RdmaRuntime}
 * behind it that owns everything an executor must close.
 *
 * <p>Spark calls the manager from task threads and its dispatcher; the runtime starts on a thread
 * of its own.
 */
package org.sparkrdma.shuffle;
