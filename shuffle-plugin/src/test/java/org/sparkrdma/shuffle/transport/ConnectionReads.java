// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.sparkrdma.memory.RegisteredChunk;

/** READs of one connection that has nothing else, without a peer. For one thread. */
final class ConnectionReads {
  private final TransportContext context;
  private final RegisteredChunk chunk;
  private final int readBytes;
  private final ScriptedConnection wire = new ScriptedConnection();
  private final SendQueue sends = new SendQueue(wire.queuePair(), 128, 0);
  private final ReadBatch batch;
  final ReadQueue queue;

  /**
   * @param chunk receives the data
   * @param readBytes of a READ, by default
   * @param turns called when a READ that waited for other connections may be posted
   */
  ConnectionReads(
      TransportContext context,
      RegisteredChunk chunk,
      int readBytes,
      Consumer<ConnectionReads> turns) {
    this.context = context;
    this.chunk = chunk;
    this.readBytes = readBytes;
    batch = context.readPool().batch(1, 0, 1_000);
    queue = new ReadQueue(context, sends, () -> turns.accept(this));
  }

  /** Wants to post more READs of its batch, and posts those that it may. */
  ConnectionReads post(int count) {
    return post(count, readBytes);
  }

  ConnectionReads post(int count, int bytes) {
    List<ReadOperation> reads = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      reads.add(
          context
              .readPool()
              .read(batch, (of, done) -> queue.onReadDone(done), 4_096, 1, chunk, 0, bytes));
    }
    queue.add(reads);
    return turn();
  }

  ConnectionReads turn() {
    queue.post(context.nanoClock().getAsLong());
    sends.flush();
    return this;
  }

  int posted() {
    return wire.sends().size();
  }

  /** All its posted READs complete, as far as the device reports it. */
  void complete() {
    long last = -1;
    while (!wire.sends().isEmpty()) {
      ScriptedConnection.Work work = wire.sends().poll();
      last = work.signalled() ? work.id() : last;
    }
    sends.completed(last);
  }
}
