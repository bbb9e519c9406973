// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

/** Workers without threads: the test runs their jobs. */
final class HandWorkers implements DiskWork.Workers {
  /** Their jobs; after those of the disks come registrations, the last are for no disk. */
  private final List<Queue<Runnable>> disks = new ArrayList<>();

  private final int count;

  HandWorkers(int count) {
    this.count = count;
    for (int i = 0; i <= 2 * count; i++) {
      disks.add(new ArrayDeque<>());
    }
  }

  @Override
  public void start() {}

  @Override
  public void execute(int disk, Runnable job) {
    disks.get(disk).add(job);
  }

  @Override
  public void register(int disk, Runnable job) {
    disks.get(count + disk).add(job);
  }

  @Override
  public void execute(Runnable job) {
    execute(disks.size() - 1, job);
  }

  /** Number of jobs that wait for a disk. */
  int waiting(int disk) {
    return disks.get(disk).size();
  }

  /** Number of registrations that wait for a disk. */
  int registrations(int disk) {
    return disks.get(count + disk).size();
  }

  /** Runs the registrations of a disk. */
  void register(int disk) {
    runAll(disks.get(count + disk));
  }

  /** Runs the next registration of a disk. */
  void registerOne(int disk) {
    disks.get(count + disk).remove().run();
  }

  /** Runs the next job of a disk. */
  void runOne(int disk) {
    disks.get(disk).remove().run();
  }

  /** Runs the jobs that wait; returns their number. */
  int runAll() {
    return disks.stream().mapToInt(HandWorkers::runAll).sum();
  }

  /** Runs the jobs for no disk. */
  void runOthers() {
    runAll(disks.get(disks.size() - 1));
  }

  private static int runAll(Queue<Runnable> jobs) {
    int done = 0;
    for (Runnable job = jobs.poll(); job != null; job = jobs.poll()) {
      job.run();
      done++;
    }
    return done;
  }

  @Override
  public boolean close(Duration limit) {
    runAll();
    return true;
  }
}
