// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.thread;

import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.TimeUnit;

/** Runs each task at once on its caller's thread; never ends. */
public class SameThreadExecutor extends AbstractExecutorService {
  @Override
  public void execute(Runnable task) {
    task.run();
  }

  @Override
  public final void shutdown() {}

  @Override
  public final List<Runnable> shutdownNow() {
    return List.of();
  }

  @Override
  public final boolean isShutdown() {
    return false;
  }

  @Override
  public final boolean isTerminated() {
    return false;
  }

  @Override
  public final boolean awaitTermination(long timeout, TimeUnit unit) {
    return true;
  }
}
