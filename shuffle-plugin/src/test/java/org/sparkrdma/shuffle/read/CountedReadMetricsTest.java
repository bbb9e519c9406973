// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.TaskContext$;
import org.apache.spark.TaskContextImpl;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import scala.Option;

class CountedReadMetricsTest {
  private final Map<String, Long> received = new HashMap<>();
  private final ShuffleCounters counters = new ShuffleCounters();
  private final TaskContextImpl task = TaskContext$.MODULE$.empty();

  private final ShuffleReadMetricsReporter metrics =
      CountedReadMetrics.of(
          (ShuffleReadMetricsReporter)
              Proxy.newProxyInstance(
                  getClass().getClassLoader(),
                  new Class<?>[] {ShuffleReadMetricsReporter.class},
                  (proxy, method, arguments) -> {
                    received.put(method.getName(), (Long) arguments[0]);
                    return null;
                  }),
          task,
          counters);

  @Test
  void shouldForwardEachMetricToSpark() throws Exception {
    Map<String, Long> sent = new HashMap<>();
    for (Method method : ShuffleReadMetricsReporter.class.getMethods()) {
      sent.put(method.getName(), 7L + sent.size());
      method.invoke(metrics, sent.get(method.getName()));
    }
    assertThat(received).hasSize(17).isEqualTo(sent);
  }

  @Test
  void shouldAddRemoteBytesToTheStageAtTheEndOfTheTask() {
    metrics.incRemoteBytesRead(100);
    metrics.incLocalBytesRead(1_000);
    metrics.incRemoteBytesRead(20);
    assertThat(counters.stages().list()).isEmpty();
    task.markTaskCompleted(Option.empty());
    assertThat(counters.stages().list())
        .isEqualTo(List.of(0L, (long) task.stageId(), 0L, 0L, 120L));
  }
}
