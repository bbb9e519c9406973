// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.Release;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.WorkCompletion;

/**
 * The honest peer of a {@link ScriptedReader}, which answers its requests and completes its work.
 * Map output n has one block; the map id is its index in the lengths given.
 */
final class ScriptedPeer {
  private final ScriptedConnection wire;
  private final Consumer<WorkCompletion> completions;
  private final int[] lengths;
  private final ArrayDeque<ScriptedConnection.Work> underWay = new ArrayDeque<>();
  private int locates;
  private int blocksAsked;
  private int releases;
  private long nextLease = 1;

  /** Credits that it has not granted. */
  private int creditsLeft;

  /**
   * @param wire end of the reader
   * @param credits that it may grant
   * @param completions receives those of the reader
   * @param lengths of its blocks
   */
  ScriptedPeer(
      ScriptedConnection wire, int credits, Consumer<WorkCompletion> completions, int... lengths) {
    this.wire = wire;
    this.creditsLeft = credits;
    this.completions = completions;
    this.lengths = lengths;
  }

  /** Number of its blocks. */
  int blocks() {
    return lengths.length;
  }

  /** LOCATEs that it has answered. */
  int locates() {
    return locates;
  }

  /** Blocks of all LOCATEs, each as often as it was asked for. */
  int blocksAsked() {
    return blocksAsked;
  }

  /** RELEASEs that it has answered. */
  int releases() {
    return releases;
  }

  /** READs that are posted and not completed. */
  int readsUnderWay() {
    return (int) underWay.stream().filter(work -> work.opcode() != Opcode.SEND).count();
  }

  /** Answers every request, and completes each SEND before which no READ is posted. */
  void answerMessages() {
    while (!wire.sends().isEmpty()) {
      ScriptedConnection.Work work = wire.sends().poll();
      underWay.add(work);
      if (work.opcode() == Opcode.SEND) {
        answer(work.bytes());
      }
    }
    // A queue pair completes in order, thus no SEND before a READ posted earlier.
    while (!underWay.isEmpty() && underWay.peek().opcode() == Opcode.SEND) {
      complete(underWay.poll());
    }
  }

  void completeReads() {
    while (!underWay.isEmpty()) {
      complete(underWay.poll());
    }
  }

  /** The oldest READ completes, if there is one. */
  void completeOneRead() {
    boolean completed = false;
    while (!completed && !underWay.isEmpty()) {
      ScriptedConnection.Work work = underWay.poll();
      complete(work);
      completed = work.opcode() != Opcode.SEND && work.signalled();
    }
  }

  private void complete(ScriptedConnection.Work work) {
    if (work.signalled()) {
      completions.accept(work.completion(work.length()));
    }
  }

  /** Sends a message, which the reader receives at once. */
  void send(byte[] message) {
    ScriptedConnection.Work posted = wire.receives().poll();
    posted.bytes().put(message);
    completions.accept(posted.completion(message.length));
  }

  private void answer(ByteBuffer message) {
    if (message.get(0) == 7) {
      creditsLeft++;
    } else if (message.get(0) == 3) {
      releases++;
      Release release = Release.decode(message);
      int credits = release.requestsCredits() ? creditsLeft : 0;
      creditsLeft -= credits;
      send(HostileServer.released(release.requestId(), credits));
    } else if (message.get(0) == 1) {
      locates++;
      Locate locate = Locate.decode(message);
      blocksAsked += locate.blockCount();
      send(located(locate));
    }
  }

  private byte[] located(Locate locate) {
    ByteBuffer bytes = ByteBuffer.allocate(ScriptedMemory.MESSAGE_BYTES);
    Located.Encoder encoder = new Located.Encoder().begin(bytes, locate.requestId(), 0);
    for (int i = 0; i < locate.blockCount() && encoder.roomForSums() >= 0; i++) {
      int whole = lengths[(int) locate.mapId(i)];
      long from = locate.startOffset(i);
      encoder.located(i, 0x10_0000, 3, (int) (whole - from), from, whole, 0);
    }
    byte[] message = new byte[encoder.finish(nextLease++, 60_000)];
    bytes.get(0, message);
    return message;
  }
}
