// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.thread.SameThreadExecutor;

/** The files of blocks that are being read to disk when the agent fails. */
class DiskBlockEndTest implements FetchHandler {
  private final List<String> answers = new ArrayList<>();
  private final ArrayDeque<Runnable> diskTasks = new ArrayDeque<>();
  private final CountedFiles files = new CountedFiles(() -> true);
  private boolean closed;
  private final Delivery delivery =
      TestDelivery.on(new SameThreadExecutor(), this::queue, new ShuffleCounters());
  private final BlockFetch fetch =
      new BlockFetch(null, List.of(new BlockRange(0, 0, 0, 1)), files, this, done -> {});
  private final BlockProgress block = fetch.blocks().get(0);

  @AfterEach
  void shouldEndNoFileTwice() {
    assertThat(files.open()).isZero();
    assertThat(files.endedTwice()).isZero();
  }

  @Test
  void shouldDeleteTheFileOfABlockWhoseNextPartIsBeingRead() {
    writeFirstPart();

    failAgent();

    assertThat(answers).as("before the disk is touched").containsExactly("stopped");
    assertThat(files.open()).isEqualTo(1);
    runDiskTasks();
    assertThat(files.created()).isEqualTo(1);
    assertThat(files.open()).isZero();
  }

  @Test
  void shouldDeleteTheFileAfterTheEndOfAWriteThatRuns() {
    block.acceptLayout(10, 0);
    delivery.writeToDisk(
        block,
        rest -> {
          // The last step of the write of a part: all its checks are over.
          failAgent();
          runDiskTasks();
          assertThat(files.open()).as("while the write runs").isEqualTo(1);
        });
    runDiskTasks();
    assertThat(answers).containsExactly("stopped");
    assertThat(files.created()).isEqualTo(1);
    assertThat(files.open()).isZero();
  }

  @Test
  void shouldDeleteTheFileOnceThoughTheAgentFailsTheBlockLater() {
    writeFirstPart();
    failAgent();
    delivery.fail(block, FallbackReason.LOST_PEER, "late");
    runDiskTasks();
    assertThat(answers).containsExactly("stopped");
    assertThat(files.created()).isEqualTo(1);
  }

  @Test
  void shouldCreateNoFileForAWriteThatStillWaits() {
    block.acceptLayout(10, 0);
    delivery.writeToDisk(block, rest -> {});
    failAgent();
    runDiskTasks();
    assertThat(answers).containsExactly("stopped");
    assertThat(files.created()).isZero();
  }

  @Test
  void shouldNotWaitForADiskWhenItsThreadsAreClosed() {
    writeFirstPart();
    delivery.writeToDisk(block, rest -> {});
    closed = true;
    failAgent();
    assertThat(answers).containsExactly("stopped");
    assertThat(files.open()).as("the caller deletes nothing").isEqualTo(1);
    runDiskTasks();
    assertThat(files.open()).as("the last write has").isZero();
  }

  private void writeFirstPart() {
    block.acceptLayout(10, 0);
    List<BlockProgress> rest = new ArrayList<>();
    delivery.writeToDisk(block, rest::add);
    runDiskTasks();
    assertThat(rest).containsExactly(block);
  }

  private void failAgent() {
    fetch.failRest(
        FallbackReason.STOPPED, "transport agent failed", new DeliveryLog(), delivery.disks());
  }

  private void queue(Runnable task) {
    if (closed) {
      throw new RejectedExecutionException("closed");
    }
    diskTasks.add(task);
  }

  private void runDiskTasks() {
    while (!diskTasks.isEmpty()) {
      diskTasks.poll().run();
    }
  }

  @Override
  public void onFetched(int index, ManagedBuffer buffer) {
    answers.add("fetched");
  }

  @Override
  public void onFailed(int index, FallbackReason reason, String detail) {
    answers.add(reason.label());
  }

  @Override
  public void onSuspect(int index, SuspectBlock suspect) {
    answers.add("suspect");
  }
}
