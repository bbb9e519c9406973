// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import org.apache.spark.TaskContext;
import org.sparkrdma.shuffle.fetch.FetchContext;
import org.sparkrdma.shuffle.fetch.FetchingTask;
import org.sparkrdma.shuffle.read.RdmaReads.Way;

/**
 * The block client of all readers of an executor, beside another shuffle manager: each request is
 * taken for a reader of its own. It knows no map indexes, so a failure names none. Safe for any
 * thread.
 */
final class SharedBlockClient extends RdmaBlockClient {
  SharedBlockClient(FetchContext context, RdmaReads reads) {
    super(context, reads, null);
  }

  @Override
  FetchingTask task() {
    return new FetchingTask(TaskContext.get());
  }

  @Override
  boolean mayUseRdma() {
    return reads.is(Way.RDMA);
  }
}
