/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.shuffle.serve;

import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.ComputedSums;
import org.sparkrdma.shuffle.wire.ChecksumKind;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.MalformedMessageException;

/** Answers LOCATEs one after another. On the server's thread. */
final class Locator {
  private static final Logger LOGGER = LoggerFactory.getLogger(Locator.class);
  private static final long NS_PER_MS = 1_000_000;

  private final ServedOutputs outputs;
  private final Leases leases;
  private final Placement placement;
  private final BlockWriter writer;
  private final int checksumKind;
  private final ShuffleCounters counters;
  private final LongSupplier nanoClock;
  private final Located.Encoder answer = new Located.Encoder();
  private boolean stopped;

  Locator(
      ServedOutputs outputs,
      Leases leases,
      Placement placement,
      int checksumKind,
      boolean computeSums,
      ShuffleCounters counters,
      LongSupplier nanoClock) {
    this.outputs = outputs;
    this.leases = leases;
    this.placement = placement;
    this.checksumKind =
        computeSums && checksumKind == Located.NO_CHECKSUM
            ? ChecksumKind.CRC32C_KIND
            : checksumKind;
    this.writer =
        new BlockWriter(placement, computeSums ? new ComputedSums(this.checksumKind) : null);
    this.counters = counters;
    this.nanoClock = nanoClock;
  }

  /** From now on, answers that all blocks must be fetched by TCP. */
  void stop() {
    stopped = true;
  }

  /** Releases the leases named in the request, then locates its blocks. */
  void locate(LocateCall call) {
    Locate request;
    try {
      request = Locate.decode(call.request());
      releaseLeases(call.peer(), request);
    } catch (MalformedMessageException e) {
      counters.increment(Counter.PROTOCOL_ERRORS);
      call.malformed(e.getMessage());
      return;
    }
    int lengthBytes = answer(call, request);
    counters.increment(Counter.LOCATES_SERVED);
    counters.add(Counter.BLOCKS_SENT_TO_TCP, writer.sentToTcp());
    call.answered(lengthBytes);
  }

  private void releaseLeases(long peer, Locate request) {
    for (int i = 0; i < request.leaseCount(); i++) {
      if (!leases.release(peer, request.leaseId(i))) {
        throw new MalformedMessageException("release of another peer's lease: lease=" + i);
      }
    }
  }

  private int answer(LocateCall call, Locate request) {
    Lease lease = leases.draft(call.peer(), nanoClock.getAsLong());
    placement.beginAnswer(lease);
    try {
      beginAnswer(call, request);
      if (stopped || !lease.share().admitLease()) {
        sendAllToTcp(request);
      } else {
        writeBlocks(request);
      }
    } catch (Throwable e) {
      // Also an Error and undeclared exceptions of Scala code: the reader waits for an answer.
      LOGGER.warn("blocks could not be located; the reader uses TCP", e);
      leases.discard(lease);
      beginAnswer(call, request);
      sendAllToTcp(request);
    } finally {
      placement.endAnswer();
      writer.endAnswer();
    }
    if (lease.share().pollRefused()) {
      counters.increment(Counter.PEERS_LIMITED);
    }
    if (lease.isEmpty()) {
      return answer.finish(0, 0);
    }
    leases.grant(lease);
    long remainingMs = (lease.deadlineNs() - nanoClock.getAsLong()) / NS_PER_MS;
    return answer.finish(lease.id(), (int) Math.max(0, Math.min(Integer.MAX_VALUE, remainingMs)));
  }

  private void beginAnswer(LocateCall call, Locate request) {
    answer.begin(call.answer(), request.requestId(), checksumKind);
    writer.beginAnswer(answer);
  }

  private void sendAllToTcp(Locate request) {
    int block = 0;
    while (block < request.blockCount() && writer.byTcp(block, Located.Kind.BUSY)) {
      block++;
    }
  }

  private void writeBlocks(Locate request) {
    ServedOutput output = null;
    int blocks = request.blockCount();
    for (int i = 0; i < blocks; i++) {
      if (output == null
          || request.mapId(i) != request.mapId(i - 1)
          || request.shuffleId(i) != request.shuffleId(i - 1)) {
        output = outputs.find(request.shuffleId(i), request.mapId(i));
      }
      boolean goOn =
          output == null
              ? writer.byTcp(i, Located.Kind.UNKNOWN)
              : writer.block(
                  i,
                  output,
                  request.startReduceId(i),
                  request.endReduceId(i),
                  request.startOffset(i),
                  request.freshSums(i));
      if (!goOn) {
        return;
      }
    }
  }
}
