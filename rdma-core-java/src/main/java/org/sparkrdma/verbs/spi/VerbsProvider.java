// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.spi;

import java.util.List;
import org.sparkrdma.verbs.VerbsEngine;

/**
 * Checks whether an engine can run here and starts it.
 *
 * <p>Implementations are public, have a public constructor without arguments that does nothing, and
 * are listed in {@code META-INF/services/org.sparkrdma.verbs.spi.VerbsProvider}. Safe for any
 * thread.
 */
public interface VerbsProvider {
  /**
   * {@return the engine's name as users write it, lower case: {@code ibverbs}, {@code disni},
   * {@code soft}}
   */
  String name();

  /**
   * {@return the order in the automatic choice, lower first; negative for an engine that is used
   * only by name}
   */
  int order();

  /** {@return the settings of this engine; none by default} */
  default List<EngineSetting> settings() {
    return List.of();
  }

  /**
   * Checks values of this engine's settings without access to the machine. By default it allows
   * every value of a setting that this engine has.
   *
   * @param settings values for all engines
   * @throws IllegalArgumentException naming key, value and what is allowed
   */
  default void validate(EngineSettings settings) {
    settings.requireKnown(name(), settings());
  }

  /**
   * Loads the engine. The caller closes it.
   *
   * @param settings values for all engines
   * @return the engine
   * @throws EngineUnavailableException when it cannot run here; its message is the reason
   * @throws IllegalArgumentException as {@link #validate}
   */
  VerbsEngine load(EngineSettings settings) throws EngineUnavailableException;
}
