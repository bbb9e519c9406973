// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Configurator;
import org.apache.logging.log4j.core.config.Property;

/** Collects everything that both modules log, from TRACE on and with stack traces, until closed. */
final class TraceLog implements AutoCloseable {
  private static final String OURS = "org.sparkrdma";

  private final List<String> lines = new ArrayList<>();
  private final Logger logger = (Logger) LogManager.getLogger(OURS);
  private final Level before = logger.getLevel();
  private final AbstractAppender appender =
      new AbstractAppender("trace", null, null, true, Property.EMPTY_ARRAY) {
        @Override
        public void append(LogEvent event) {
          take(event);
        }
      };

  TraceLog() {
    appender.start();
    logger.addAppender(appender);
    Configurator.setAllLevels(OURS, Level.TRACE);
  }

  private synchronized void take(LogEvent event) {
    lines.add(event.getLevel() + " " + event.getLoggerName());
    lines.add(event.getMessage().getFormattedMessage());
    if (event.getThrown() != null) {
      lines.add(stackTrace(event.getThrown()));
    }
  }

  static String stackTrace(Throwable thrown) {
    StringWriter out = new StringWriter();
    thrown.printStackTrace(new PrintWriter(out));
    return out.toString();
  }

  synchronized List<String> lines() {
    return List.copyOf(lines);
  }

  @Override
  public void close() {
    Configurator.setAllLevels(OURS, before);
    logger.removeAppender(appender);
    appender.stop();
  }
}
