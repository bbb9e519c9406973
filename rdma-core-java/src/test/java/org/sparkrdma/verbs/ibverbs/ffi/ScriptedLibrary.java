// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Both verbs libraries with one device that tests script: {@code scripted_device.c}, compiled with
 * the C compiler of this machine. Each instance has a device of its own. It stays loaded until the
 * process ends. Safe for any thread once the script is written.
 */
public final class ScriptedLibrary {
  /** A count of calls without end. */
  public static final int FOR_EVER = Integer.MAX_VALUE;

  // enum ibv_event_type
  public static final int CQ_ERR = 0;
  public static final int QP_FATAL = 1;
  public static final int SQ_DRAINED = 5;
  public static final int DEVICE_FATAL = 8;
  public static final int PORT_ACTIVE = 9;
  public static final int PORT_ERR = 10;

  // enum rdma_cm_event_type
  public static final int ADDR_RESOLVED = 0;
  public static final int ROUTE_RESOLVED = 2;
  public static final int CONNECT_REQUEST = 4;
  public static final int CONNECT_ERROR = 6;
  public static final int UNREACHABLE = 7;
  public static final int REJECTED = 8;
  public static final int ESTABLISHED = 9;
  public static final int DISCONNECTED = 10;
  public static final int DEVICE_REMOVAL = 11;
  public static final int ADDR_CHANGE = 14;
  public static final int TIMEWAIT_EXIT = 15;

  private static final List<Path> HEADERS =
      Stream.of("infiniband/verbs.h", "rdma/rdma_cma.h", "stdlib.h")
          .map(Path.of("/usr/include")::resolve)
          .toList();

  private static final String MISSING =
      "scripted device: install gcc libc6-dev libibverbs-dev librdmacm-dev";

  private static final String GIVEN = System.getProperty("scripted.library");

  private final Symbols symbols;
  private final VerbsLibrary verbs;
  private final CmLibrary cm;

  private ScriptedLibrary(String file) {
    symbols = Symbols.open(file);
    verbs = VerbsLibrary.load(file);
    cm = CmLibrary.load(file);
  }

  /**
   * Skips a class of tests on a machine that cannot compile it. Not by {@link #load} before all
   * tests, because Surefire reports nothing when a class ends there.
   */
  public static class Available implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      return isGiven() || canBeCompiled()
          ? ConditionEvaluationResult.enabled("compiler and headers")
          : ConditionEvaluationResult.disabled(MISSING);
    }
  }

  private static boolean canBeCompiled() {
    return HEADERS.stream().allMatch(Files::exists)
        && Stream.of(System.getenv("PATH").split(":", -1))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, "cc")));
  }

  /**
   * Compiles and loads it; skips the test on a machine that cannot compile it. The system property
   * {@code scripted.library} names a compiled one instead.
   */
  public static ScriptedLibrary load() throws IOException, InterruptedException {
    if (isGiven()) {
      return new ScriptedLibrary(GIVEN);
    }
    assumeTrue(canBeCompiled(), MISSING);
    Path directory = Files.createTempDirectory("scripted-device");
    Path source = directory.resolve("scripted_device.c");
    Path library = directory.resolve("scripted.so");
    try {
      try (InputStream text = ScriptedLibrary.class.getResourceAsStream("/scripted_device.c")) {
        Files.copy(text, source);
      }
      compile(source, library);
      return new ScriptedLibrary(library.toString());
    } finally {
      Files.deleteIfExists(library);
      Files.delete(source);
      Files.delete(directory);
    }
  }

  /** Whether another process has compiled it: for an emulated processor, which is slow. */
  public static boolean isGiven() {
    return GIVEN != null;
  }

  private static void compile(Path source, Path library) throws IOException, InterruptedException {
    Process compiler =
        new ProcessBuilder(
                "cc", "-O1", "-shared", "-fPIC", "-o", library.toString(), source.toString())
            .inheritIO()
            .start();
    if (compiler.waitFor() != 0) {
      throw new IOException("the scripted device does not compile: source=" + source);
    }
  }

  public VerbsLibrary verbs() {
    return verbs;
  }

  public CmLibrary cm() {
    return cm;
  }

  /**
   * Makes calls of a C function fail.
   *
   * @param from number of the first one that fails, counted from now on; 1 is the next
   * @param count how many fail
   */
  public void fail(String function, int errno, int from, int count) {
    call("script_fail", function, errno, from, count);
  }

  /** Makes each call of a C function take this long. */
  public void delay(String function, int ms) {
    call("script_delay", function, ms);
  }

  /** Ends the delays of all C functions, of calls that have not returned as well. */
  public void endDelays() {
    SetUpCalls.call(symbols.get("script_end_delays"));
  }

  /** The number of calls of a C function. */
  public long calls(String function) {
    return call("script_seen", function);
  }

  /**
   * Lowers a limit of the device: memlock, rd_atom or sge. infiniband makes its port one of
   * InfiniBand, ports is their number, vendor the vendor id, failing_reads the number of READs that
   * complete with an error, port_state the state of its first port as in enum ibv_port_state; with
   * kept_access queue pairs keep the access that is removed, with echoed_access they report the
   * access that was asked for, whatever they have; stale is the number of connection requests that
   * the peer's host rejects because of a stale connection; with removed the device is gone, so the
   * kernel refuses all commands; removal_after is the number, not 0, of the event of enum
   * rdma_cm_event_type right after which the device is removed, once: in the same batch the
   * identifier of that event and all listeners get DEVICE_REMOVAL; with held_reads no READ
   * completes before its queue pair breaks, or {@link #releaseReads}; connect_event is the number
   * of the event that answers the next connection request, which the peer does not get;
   * address_error is the errno with which the next address is not resolved. With iwarp, set before
   * the engine is used, the device is one of iWARP: calls that end a connection wait until it has
   * its outcome, at most for outcome_ms. While held_port is the port of a listener, rdma_connect to
   * it does not return. IPv4 addresses whose first partition_bits bits differ belong to interfaces
   * of different partitions: no neighbour answers between them, or with foreign_answers another
   * interface of the peer's host does, which then rejects the request. route_error is the errno
   * with which the next route is not resolved. With second_device there is another device,
   * scripted1, that is used for nothing: 1 is well, of 2 each query fails with EIO, 3 cannot be
   * opened, and 4 has the node GUID 0. With write_pins only mappings that can be written are
   * registered.
   */
  public void limit(String name, long value) {
    call("script_limit", name, value);
  }

  /** Loses events of the connection manager with this number of enum rdma_cm_event_type. */
  public void lose(int event, int count) {
    SetUpCalls.call(symbols.get("script_lose"), event, count);
  }

  /**
   * Raises an asynchronous event with this number of enum ibv_event_type, of the newest object of
   * its kind; but no COMM_EST of a queue pair that can send, which raises none.
   *
   * @param port for events of ports
   */
  public void raise(int event, int port) {
    SetUpCalls.call(symbols.get("script_async"), event, port);
  }

  /** Raises an event with this number of enum rdma_cm_event_type on all listeners. */
  public void raiseOnListeners(int event) {
    SetUpCalls.call(symbols.get("script_cm"), event, 1);
  }

  /** Raises an event with this number of enum rdma_cm_event_type on all connections. */
  public void raiseOnConnections(int event) {
    SetUpCalls.call(symbols.get("script_cm"), event, 0);
  }

  /**
   * Raises an event with this number of enum rdma_cm_event_type on all iWARP connections that have
   * no outcome.
   */
  public void raiseOutcome(int event) {
    SetUpCalls.call(symbols.get("script_cm"), event, 2);
  }

  /** Ends the limit held_reads: the READs read the memory of the peer as it is now. */
  public void releaseReads() {
    SetUpCalls.call(symbols.get("script_release_reads"));
  }

  /** The device's descriptors report errors from now on. */
  public void killDescriptors() {
    SetUpCalls.call(symbols.get("script_kill_descriptors"));
  }

  /** Objects that exist in the device and bytes of locked memory charged for them; 0 when none. */
  public long outstanding() {
    return SetUpCalls.call(symbols.get("script_outstanding"));
  }

  /**
   * The attribute min_rnr_timer that a queue pair was last given, as ibv_modify_qp(3) encodes it;
   * -1 when none since the last reset.
   */
  public long minRnrTimer() {
    return SetUpCalls.call(symbols.get("script_min_rnr_timer"));
  }

  /** The send_flags of the newest request with this number of enum ibv_wr_opcode, at most READ. */
  public long sendFlags(int opcode) {
    return SetUpCalls.call(symbols.get("script_send_flags"), opcode);
  }

  /**
   * A parameter of the newest connection of an end, from rdma_connect or rdma_accept and from the
   * options of that identifier: retry_count, rnr_retry_count, ack_timeout or tos, which a responder
   * has from its listener; 0 where it was not set.
   */
  public long parameter(String name, boolean ofInitiator) {
    return call("script_parameter", name, ofInitiator ? 0 : 1);
  }

  /** Number of calls that waited for the outcome of an iWARP connection since the last reset. */
  public long waits() {
    return SetUpCalls.call(symbols.get("script_waits"));
  }

  /** The completion vector of the newest completion queue. */
  public long newestVector() {
    return SetUpCalls.call(symbols.get("script_vector"));
  }

  /**
   * Number of times that the script took effect since the last reset: calls that failed or were
   * slow, limits that were reported or refused something, events that were raised or lost,
   * descriptors that ended.
   */
  public long hits() {
    return SetUpCalls.call(symbols.get("script_hits"));
  }

  /**
   * Ends all failures, delays, losses and limits, and frees the objects whose destruction failed,
   * which otherwise stay for ever.
   */
  public void reset() {
    SetUpCalls.call(symbols.get("script_reset"));
  }

  private long call(String script, String name, long... more) {
    try (NativeArena arena = new NativeArena()) {
      long[] arguments = new long[1 + more.length];
      arguments[0] = arena.allocate(name.getBytes(StandardCharsets.UTF_8), 1);
      System.arraycopy(more, 0, arguments, 1, more.length);
      return SetUpCalls.call(symbols.get(script), arguments);
    }
  }
}
