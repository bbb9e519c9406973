// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.leak;

import java.io.PrintStream;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * Ends the JVM, with the stacks of all threads, when a test goes on after its time limit. JUnit
 * only interrupts a test that has a {@link Timeout}, and a loop that waits for a device ignores
 * that. JUnit applies it to every test, through the service loader.
 */
public final class TimeLimits implements BeforeEachCallback, AfterEachCallback {
  private static final Namespace NAMESPACE = Namespace.create(TimeLimits.class);
  private static final PrintStream OUT = System.err;

  /** Limit of a test that sets none; a fuzz target takes up to ten minutes. */
  private static final Duration USUAL = Duration.ofMinutes(15);

  /** System property: seconds that an interrupted test has to end. */
  static final String GRACE = "test.grace.seconds";

  private static final Duration USUAL_GRACE = Duration.ofSeconds(30);

  private static final ScheduledExecutorService WATCH =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            var thread = new Thread(task, "time limits of tests");
            thread.setDaemon(true);
            return thread;
          });

  @Override
  public void beforeEach(ExtensionContext context) {
    Duration limit = limit(context);
    String test = context.getRequiredTestClass().getSimpleName() + "." + context.getDisplayName();
    Future<?> end =
        WATCH.schedule(
            () -> end(test, limit), limit.plus(grace()).toMillis(), TimeUnit.MILLISECONDS);
    context.getStore(NAMESPACE).put(context.getUniqueId(), end);
  }

  @Override
  public void afterEach(ExtensionContext context) {
    context.getStore(NAMESPACE).get(context.getUniqueId(), Future.class).cancel(false);
  }

  private static Duration grace() {
    return Duration.ofSeconds(Long.getLong(GRACE, USUAL_GRACE.toSeconds()));
  }

  private static Duration limit(ExtensionContext context) {
    return AnnotationSupport.findAnnotation(context.getElement(), Timeout.class)
        .or(
            () ->
                AnnotationSupport.findAnnotation(
                    context.getRequiredTestClass(),
                    Timeout.class,
                    context.getEnclosingTestClasses()))
        .map(given -> Duration.of(given.value(), given.unit().toChronoUnit()))
        .orElse(USUAL);
  }

  private static void end(String test, Duration limit) {
    OUT.printf("FAILED  %s: does not end within its time limit of %d s%n", test, limit.toSeconds());
    for (Map.Entry<Thread, StackTraceElement[]> one : Thread.getAllStackTraces().entrySet()) {
      OUT.println(one.getKey());
      for (StackTraceElement frame : one.getValue()) {
        OUT.println("\tat " + frame);
      }
    }
    OUT.flush();
    Runtime.getRuntime().halt(1);
  }
}
