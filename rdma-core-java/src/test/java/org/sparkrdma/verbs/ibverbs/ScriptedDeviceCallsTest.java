// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Set;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;

/** Calls of the device that fail or are slow. A failure names the call and its error number. */
@Tag("slow")
class ScriptedDeviceCallsTest extends ScriptedDeviceFixture {
  private static final int EIO = 5;
  private static final int EBUSY = 16;
  private static final int ENODEV = 19;
  private static final int EINVAL = 22;

  @Test
  void shouldTransferOnADeviceWithoutFailures() throws Exception {
    faulty = false;
    run();
  }

  /** The number of a call counts from the opening of the device. */
  @ParameterizedTest(name = "{0} number {1} fails with errno {2}")
  @CsvSource({
    "rdma_get_devices, 1, 19",
    "ibv_query_device, 1, 5",
    "ibv_query_port, 1, 22",
    "ibv_create_comp_channel, 1, 24",
    "ibv_create_cq, 1, 12",
    "ibv_get_async_event, 1, 5",
    "rdma_create_event_channel, 1, 24",
    "ibv_alloc_pd, 1, 12",
    "ibv_reg_mr, 1, 12",
    "ibv_reg_mr, 1, 95",
    "rdma_create_id, 1, 12",
    "rdma_create_id, 2, 19",
    "rdma_bind_addr, 1, 98",
    "rdma_bind_addr, 1, 19",
    "rdma_listen, 1, 98",
    "rdma_resolve_addr, 1, 19",
    "rdma_resolve_addr, 1, 99",
    "rdma_resolve_route, 1, 22",
    "rdma_create_qp, 1, 12",
    "rdma_create_qp, 2, 12",
    "rdma_set_option, 1, 22",
    "rdma_set_option, 2, 22",
    "rdma_connect, 1, 22",
    "rdma_accept, 1, 22",
    "ibv_modify_qp, 1, 5",
    "ibv_modify_qp, 2, 22",
    "ibv_post_send, 1, 5",
    "ibv_post_send, 2, 19",
    "ibv_post_recv, 1, 5"
  })
  void shouldNameTheCallThatFails(String call, int number, int errno) {
    library.fail(call, errno, number, 1);

    assertThatThrownBy(this::run).hasMessageContaining(call + " failed: errno=" + errno + " (");
  }

  @ParameterizedTest(name = "{0} fails for ever with errno 5, and each call that ends an object")
  @ValueSource(
      strings = {
        "rdma_create_qp",
        "rdma_accept",
        "ibv_modify_qp",
        "ibv_post_send",
        "ibv_post_recv",
        "rdma_resolve_route"
      })
  void shouldCloseEverythingOnADeviceThatFailsForEver(String call) {
    for (String also : List.of("rdma_disconnect", "rdma_reject")) {
      library.fail(also, EINVAL, 1, ScriptedLibrary.FOR_EVER);
    }
    for (String also :
        List.of(
            "rdma_destroy_qp",
            "ibv_dereg_mr",
            "ibv_dealloc_pd",
            "ibv_destroy_cq",
            "ibv_destroy_comp_channel",
            "rdma_destroy_id")) {
      library.fail(also, EBUSY, 1, ScriptedLibrary.FOR_EVER);
    }
    library.fail(call, EIO, 1, ScriptedLibrary.FOR_EVER);

    assertThatThrownBy(this::run).hasMessageContaining(call + " failed: errno=5 (");
  }

  @ParameterizedTest(name = "{0} from number {1} fails {2} times with errno {3}")
  @CsvSource({
    // An option that the kernel lacks.
    "rdma_set_option, 1, 99, 38",
    "rdma_set_option, 1, 99, 92",
    "rdma_set_option, 1, 99, 95",
    // A full queue of the device.
    "ibv_post_send, 1, 3, 12",
    "ibv_post_recv, 1, 3, 12",
    // Events that come later.
    "rdma_get_cm_event, 1, 3, 11",
    "ibv_get_cq_event, 1, 3, 11",
    // The end of a connection or region that is gone.
    "rdma_disconnect, 1, 99, 22",
    "ibv_dereg_mr, 1, 99, 16",
    // The end of other objects.
    "rdma_destroy_qp, 1, 99, 16",
    "ibv_destroy_cq, 1, 99, 16",
    "ibv_dealloc_pd, 1, 99, 16",
    "ibv_destroy_comp_channel, 1, 99, 16",
    "rdma_destroy_id, 1, 99, 22",
    "ibv_modify_qp, 3, 99, 5"
  })
  void shouldGoOnWithoutIt(String call, int number, int count, int errno) throws Exception {
    library.fail(call, errno, number, count);

    run();
  }

  /**
   * libibverbs takes it for success, with the variable that the engine sets, whether the device was
   * removed or not.
   */
  @ParameterizedTest(name = "the kernel refuses each {0} with EIO, also of a device that is there")
  @ValueSource(strings = {"ibv_dereg_mr", "rdma_destroy_qp", "ibv_destroy_cq", "ibv_dealloc_pd"})
  void shouldKeepNothingInTheProcess(String call) throws Exception {
    library.fail(call, EIO, 1, ScriptedLibrary.FOR_EVER);

    run();

    engine.close();
    assertThat(library.outstanding()).as("objects left in the process").isZero();
  }

  @ParameterizedTest(name = "rdma_connect fails with errno {0}")
  @CsvSource({"111, REJECTED", "110, UNREACHABLE", "113, UNREACHABLE", "101, UNREACHABLE"})
  void shouldReportAPeerThatCannotBeReachedAsAnEvent(int errno, String event) {
    library.fail("rdma_connect", errno, 1, 1);

    assertThatThrownBy(this::run)
        .hasMessageStartingWith(event + ": rdma_connect failed: errno=" + errno);
  }

  /** A task must not wait for the device or the kernel; the owner ends the connection. */
  @ParameterizedTest(name = "ibv_post_send fails with errno {0} on a thread that does not poll")
  @ValueSource(ints = {EIO, ENODEV, EINVAL})
  void shouldOnlyMarkTheQueuePairOnTheThreadWhosePostIsRefused(int errno) throws Exception {
    ScriptedExchange exchange = connect();
    library.fail("ibv_post_send", errno, 1, 1);
    long before = endingCalls();
    var task =
        new Thread(
            () -> {
              try {
                exchange.postRead();
              } catch (ScriptedExchange.Failed e) {
                throw new IllegalStateException(e);
              }
            },
            "task");
    task.start();
    task.join();

    assertThat(exchange.queuePair().state()).isEqualTo(QueuePairState.ERROR);
    assertThat(endingCalls()).as("calls that end a connection").isEqualTo(before);
    exchange.turn();
    assertThat(exchange.failure())
        .startsWith("DISCONNECTED: ibv_post_send failed: errno=" + errno + " (");
    assertThat(endingCalls()).isGreaterThan(before);
  }

  /** A change of access is a call of the kernel. */
  @Test
  void shouldNotLetAPostWaitForAChangeOfAccess() throws Exception {
    ScriptedExchange exchange = connect();
    long before = library.calls("ibv_modify_qp");
    library.delay("ibv_modify_qp", 8_000);
    FutureTask<Void> change =
        new FutureTask<>(
            () -> {
              exchange.queuePair().setRemoteAccess(Set.of());
              return null;
            });
    new Thread(change, "change").start();
    while (library.calls("ibv_modify_qp") == before && !change.isDone()) {
      Thread.onSpinWait();
    }
    library.fail("ibv_post_send", EIO, 1, 1);

    exchange.postRead();

    assertThat(exchange.queuePair().state()).isEqualTo(QueuePairState.ERROR);
    assertThat(change).isNotDone();
    library.endDelays();
    change.get();
    exchange.turn();
    assertThat(exchange.failure()).startsWith("DISCONNECTED: ibv_post_send failed: errno=5 (");
  }

  private static long endingCalls() {
    return library.calls("ibv_modify_qp") + library.calls("rdma_disconnect");
  }
}
