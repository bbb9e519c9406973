// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.directory.ScriptedDriver;
import org.sparkrdma.shuffle.runtime.RuntimeLifecycle.State;

/** The endpoint of a runtime reaches the driver although its hand-over to the directory fails. */
class PublishedEndpointTest extends RuntimeFixture {
  /** The first start after the loss is an hour away: the checks in between repeat it. */
  @Test
  void shouldWithdrawTheEndpointWhenTheHandOverSucceedsLater() throws Exception {
    ScriptedDriver driver = connectedDriver();
    LosableTransport transport = new LosableTransport(engine);
    RdmaRuntime runtime = startedOn(transport);
    driver.awaitPublished();
    driver.refuseTasks(2);
    transport.lose(1, "the device was removed");
    driver.awaitWithdrawn();
    assertThat(driver.tasksToRefuse()).isZero();
    runtime.close();
  }

  @Test
  void shouldWithdrawTheEndpointWhenTheRetryIsLost() throws Exception {
    ScriptedDriver driver = connectedDriver();
    LosableTransport transport = new LosableTransport(engine);
    RdmaRuntime runtime = startedOn(transport);
    driver.awaitPublished();
    driver.loseWithdrawalAndItsRetry();
    transport.lose(1, "the device was removed");
    driver.awaitWithdrawn();
    runtime.close();
  }

  @Test
  void shouldPublishTheEndpointWhenTheHandOverSucceedsLater() throws Exception {
    ScriptedDriver driver = connectedDriver();
    // The figures, the request for the profile, and the endpoint.
    driver.refuseTasks(3);
    RdmaRuntime runtime = startedOn(new LosableTransport(engine));
    driver.awaitPublished();
    assertThat(driver.tasksToRefuse()).isZero();
    runtime.awaitPublished();
    runtime.close();
  }

  @Test
  void shouldReportThatRdmaIsOffForEverWhenTheHandOverSucceedsLater() throws Exception {
    ScriptedDriver driver = connectedDriver();
    // The figures, and the reasons.
    driver.refuseTasks(2);
    RdmaRuntime runtime = runtime(engine, parts -> engine.transport(), List.of("bad setting"));
    runtime.start();
    driver.awaitWithdrawn();
    assertThat(runtime.state()).isEqualTo(State.OFF);
    runtime.close();
  }
}
