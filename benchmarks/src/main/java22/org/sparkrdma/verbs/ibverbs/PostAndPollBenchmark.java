// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.sparkrdma.verbs.CompletionHandler;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.ibverbs.ffi.Binding;
import org.sparkrdma.verbs.ibverbs.ffi.Downcalls;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvContext;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvSendWr;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvWc;
import org.sparkrdma.verbs.ibverbs.ffi.Memory;
import org.sparkrdma.verbs.ibverbs.ffi.NativeArena;
import org.sparkrdma.verbs.ibverbs.ffi.VerbsLibrary;

/** Cost of the engine itself, over a device that does nothing. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 6, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
    value = 3,
    jvmArgsAppend = {"-Xms256m", "-Xmx256m", "--enable-native-access=ALL-UNNAMED"})
public class PostAndPollBenchmark {
  private static final int BATCH = 16;
  private static final int LENGTH = 4096;
  private static final long REMOTE = 1L << 32;

  /** The binding to C; each has its own forks. */
  @Param({"java.lang.foreign", "jffi"})
  public String binding;

  private final WorkRequest[] requests = new WorkRequest[BATCH];
  private StubDevice device;
  private QueuePair queuePair;
  private CompletionQueue completions;
  private MemoryRegion region;
  private long handled;
  private CompletionHandler handler;
  private NativeArena arena;
  private long postFunction;
  private long pollFunction;
  private long request;
  private long polled;

  /** Opens the device and connects. */
  @Setup
  public void setUp() throws VerbsException {
    // Read when the binding's classes are loaded, which is now.
    System.setProperty("sparkrdma.binding", binding);
    if (!Binding.name().equals(binding)) {
      throw new IllegalStateException("wrong binding: " + Binding.name());
    }
    device = StubDevice.open();
    queuePair = device.queuePair();
    completions = device.completions();
    region = device.region();
    handler = completion -> handled += completion.requestId();
    Arrays.setAll(requests, i -> new WorkRequest(1));
    arena = new NativeArena();
    postFunction = Memory.getLong(device.context() + IbvContext.OPS_POST_SEND);
    pollFunction = Memory.getLong(device.context() + IbvContext.OPS_POLL_CQ);
    request = arena.allocate(IbvSendWr.SIZE);
    Memory.putInt(request + IbvSendWr.SEND_FLAGS, VerbsLibrary.SEND_SIGNALED);
    polled = arena.allocate((long) BATCH * IbvWc.SIZE);
  }

  /** Closes the device. */
  @TearDown
  public void tearDown() {
    device.close();
    arena.close();
  }

  /** The two calls alone, with a request that was written once: the minimum for any engine. */
  @Benchmark
  public int callsAlone() {
    return Downcalls.post(postFunction, 0, request, polled)
        + Downcalls.pollCq(pollFunction, 0, BATCH, polled);
  }

  /** Writes and posts one READ and polls its completion. */
  @Benchmark
  public int postAndPoll() {
    requests[0].read(handled, REMOTE, 1).local(region, 0, LENGTH).signalled();
    if (!queuePair.postSend(requests[0])) {
      throw new IllegalStateException("queue full");
    }
    return completions.poll(BATCH, handler);
  }

  /** Posts several READs with one call, the last of them signalled; cost of one. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public int postBatchAndPoll() {
    for (int i = 0; i < BATCH; i++) {
      requests[i].read(i, REMOTE, 1).local(region, (long) i * LENGTH, LENGTH);
    }
    requests[BATCH - 1].signalled();
    if (queuePair.postSend(requests, 0, BATCH) != BATCH) {
      throw new IllegalStateException("queue full");
    }
    return completions.poll(BATCH, handler);
  }

  /** A poll that finds nothing. */
  @Benchmark
  public int pollNothing() {
    return completions.poll(BATCH, handler);
  }

  /** The calls of an idle thread before it sleeps: arm, wait without time, poll for events. */
  @Benchmark
  public ConnectionEvent armAndAwait() {
    completions.arm();
    device.channel().await(0);
    return device.manager().pollEvent();
  }
}
