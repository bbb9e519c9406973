// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.figures;

import com.fasterxml.jackson.annotation.JsonFormat;

/**
 * Shuffle bytes that the tasks of a stage have read. A list of its numbers in the store of a
 * History Server.
 *
 * @param stageId Spark's id of the stage
 * @param remote from other executors, from Spark's own metrics of tasks that have ended
 * @param local from the executor's own disks, from the same metrics
 * @param read from other executors by READ, as executors have reported
 * @param copied of these, that peers have copied
 * @param tcp from other executors by TCP, as executors have reported
 */
@JsonFormat(shape = JsonFormat.Shape.ARRAY)
public record StageBytes(int stageId, long remote, long local, long read, long copied, long tcp) {
  StageBytes withSpark(long remoteBytes, long localBytes) {
    return new StageBytes(stageId, remoteBytes, localBytes, read, copied, tcp);
  }

  /** With more bytes that executors have reported. */
  StageBytes plus(BytesByPath more) {
    return new StageBytes(
        stageId, remote, local, read + more.read(), copied + more.copied(), tcp + more.tcp());
  }

  /** With the bytes that only Spark has counted as bytes by TCP. */
  public StageBytes withPlainTcp() {
    return new StageBytes(stageId, remote, local, read, copied, Math.max(tcp, remote - read));
  }
}
