// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;

/** Polls of the agent for connection events, which cost a system call each. */
class EventPollsTest extends StoppedClockFixture {
  private static final int EVENTS_AT_ONCE = 32;
  private static final int ITERATIONS_PER_POLL = 16;

  /** Events that the connection manager reports, beside its own. Used on the agent's thread. */
  private final ArrayDeque<ConnectionEvent> events = new ArrayDeque<>();

  /** Number of these events for each iteration that has taken some. On the agent's thread. */
  private final Map<Long, Integer> taken = new TreeMap<>();

  /** On the agent's thread. */
  private long polls;

  @BeforeEach
  void startReaderWithCountedPolls() throws Exception {
    VerbsEngine engine = counted(VerbsEngine.class, TestEngine.load(Map.of()));
    startReader(new TestExecutor.Options(1).on(engine).unwatched());
  }

  private <T> T counted(Class<T> type, T inner) {
    InvocationHandler handler =
        (proxy, method, arguments) ->
            method.getName().equals("pollEvent")
                ? pollEvent((ConnectionManager) inner)
                : counted(invoke(method, inner, arguments));
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }

  private static Object invoke(Method method, Object inner, Object[] arguments) throws Throwable {
    try {
      return method.invoke(inner, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private Object counted(Object result) {
    if (result instanceof Device device) {
      return counted(Device.class, device);
    }
    return result instanceof ConnectionManager manager
        ? counted(ConnectionManager.class, manager)
        : result;
  }

  private ConnectionEvent pollEvent(ConnectionManager manager) {
    polls++;
    ConnectionEvent event = events.poll();
    if (event == null) {
      return manager.pollEvent();
    }
    taken.merge(reader.transport().agent.allIterations(), 1, Integer::sum);
    return event;
  }

  private <T> T onAgent(Supplier<T> question) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    reader.transport().agent.execute(() -> answer.complete(question.get()));
    return answer.join();
  }

  @Test
  void shouldTakeAtMostThirtyTwoEventsInOneIteration() {
    ConnectionEvent event =
        new ConnectionEvent(ConnectionEvent.Type.DISCONNECTED, null, null, new byte[0], "");
    onAgent(() -> IntStream.range(0, 3 * EVENTS_AT_ONCE + 4).allMatch(i -> events.add(event)));
    while (onAgent(() -> !events.isEmpty())) {
      Thread.onSpinWait();
    }
    assertThat(onAgent(taken::values))
        .containsExactly(EVENTS_AT_ONCE, EVENTS_AT_ONCE, EVENTS_AT_ONCE, 4);
  }

  /** The clock stands still, so the agent spins for as long as it waits for an answer. */
  @Test
  void shouldPollForEventsInEachSixteenthIterationOnlyWhileItSpins() throws Exception {
    HostileServer silent = startServer(question -> {});
    CollectedBlocks wanted = begin(silent.endpoint(), 1);
    while (silent.locates() == 0) {
      Thread.onSpinWait();
    }
    TransportAgent agent = reader.transport().agent;
    long[] before = onAgent(() -> new long[] {polls, agent.allIterations()});
    while (agent.allIterations() < before[1] + 10_000) {
      Thread.onSpinWait();
    }
    long[] after = onAgent(() -> new long[] {polls, agent.allIterations()});
    double iterations = after[1] - before[1];
    assertThat(iterations / (after[0] - before[0]))
        .isBetween(ITERATIONS_PER_POLL - 0.1, ITERATIONS_PER_POLL + 0.1);
    assertThat(wanted.answered()).isZero();
  }
}
