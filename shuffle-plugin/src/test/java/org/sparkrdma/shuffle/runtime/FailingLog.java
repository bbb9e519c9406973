// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Configurator;
import org.apache.logging.log4j.core.config.Property;

/** Throws where the plug-in logs the first line that begins with a text, until closed. */
final class FailingLog implements AutoCloseable {
  private static final String NAME = "org.sparkrdma";

  private final Level before = LogManager.getLogger(NAME).getLevel();
  private final AtomicBoolean failed = new AtomicBoolean();
  private final Logger logger;
  private final AbstractAppender appender;

  FailingLog(String begin) {
    appender =
        new AbstractAppender("failing", null, null, false, Property.EMPTY_ARRAY) {
          @Override
          public void append(LogEvent event) {
            if (event.getMessage().getFormattedMessage().startsWith(begin)
                && failed.compareAndSet(false, true)) {
              throw new OutOfMemoryError("thrown by the test");
            }
          }
        };
    Configurator.setLevel(NAME, Level.INFO);
    logger = (Logger) LogManager.getLogger(NAME);
    appender.start();
    logger.addAppender(appender);
  }

  /** Whether it has thrown. */
  boolean failed() {
    return failed.get();
  }

  @Override
  public void close() {
    logger.removeAppender(appender);
    appender.stop();
    Configurator.setLevel(NAME, before);
  }
}
