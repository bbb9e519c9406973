// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle;

import java.util.ArrayList;
import java.util.List;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Configurator;
import org.apache.logging.log4j.core.config.Property;
import org.assertj.core.util.Throwables;

/** Collects what the plug-in logs from WARN on, or from another level on, until closed. */
public final class CapturedLog implements AutoCloseable {
  private final List<String> lines = new ArrayList<>();
  private final String name;
  private final Level from;
  private final Level before;
  private final Logger logger;
  private final AbstractAppender appender =
      new AbstractAppender("captured", null, null, true, Property.EMPTY_ARRAY) {
        @Override
        public void append(LogEvent event) {
          if (event.getLevel().isMoreSpecificThan(from)) {
            take(event);
          }
        }
      };

  /** Starts to collect. */
  public CapturedLog() {
    this("org.sparkrdma");
  }

  /** Starts to collect the lines of loggers whose names begin so. */
  public CapturedLog(String name) {
    this(name, Level.WARN);
  }

  /** Starts to collect the lines from INFO on of loggers whose names begin so. */
  public static CapturedLog fromInfo(String name) {
    return new CapturedLog(name, Level.INFO);
  }

  /** Lines from DEBUG on. */
  public static CapturedLog fromDebug(String name) {
    return new CapturedLog(name, Level.DEBUG);
  }

  /** All lines, those with stack traces too, with their levels and loggers. */
  public static CapturedLog fromTrace(String name) {
    return new CapturedLog(name, Level.TRACE);
  }

  private CapturedLog(String name, Level from) {
    this.name = name;
    this.from = from;
    before = LogManager.getLogger(name).getLevel();
    if (before.isMoreSpecificThan(from)) {
      Configurator.setAllLevels(name, from);
    }
    logger = (Logger) LogManager.getLogger(name);
    appender.start();
    logger.addAppender(appender);
  }

  private synchronized void take(LogEvent event) {
    lines.add(event.getMessage().getFormattedMessage());
    if (from == Level.TRACE) {
      lines.add(event.getLevel() + " " + event.getLoggerName());
      lines.add(event.getThrown() == null ? "" : Throwables.getStackTrace(event.getThrown()));
    }
    notifyAll();
  }

  /** Waits for that many lines of WARN and worse; returns them in order. */
  public synchronized List<String> awaitWarnings(int count) throws InterruptedException {
    while (lines.size() < count) {
      wait();
    }
    return warnings();
  }

  /** Lines of WARN and worse, in order. */
  public synchronized List<String> warnings() {
    return List.copyOf(lines);
  }

  @Override
  public void close() {
    logger.removeAppender(appender);
    appender.stop();
    if (before.isMoreSpecificThan(from)) {
      Configurator.setAllLevels(name, before);
    }
  }
}
