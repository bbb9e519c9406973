// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.nio.file.Path;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;
import org.sparkrdma.verbs.spi.EngineSettings;
import org.sparkrdma.verbs.spi.EngineUnavailableException;

/** The ibverbs engine over a {@link ScriptedLibrary}. */
public final class ScriptedEngine {
  /** The name of its device. */
  public static final String DEVICE = "scripted0";

  private ScriptedEngine() {}

  /** The caller closes it. */
  public static VerbsEngine over(ScriptedLibrary library) {
    return new IbverbsEngine(
        new Libraries(library.verbs(), library.cm()), IbverbsSettings.of(EngineSettings.none()));
  }

  /**
   * Loads it as the provider does, on a machine whose system files are below {@code root}: the
   * caller closes it.
   */
  public static VerbsEngine load(ScriptedLibrary library, Path root)
      throws EngineUnavailableException {
    return IbverbsProvider.load(
        EngineSettings.none(),
        new Machine(root),
        () -> new Libraries(library.verbs(), library.cm()));
  }

  /** Forgets that the device has refused to change access. */
  public static void forgetRefusals() {
    AccessRefusals.clear();
  }
}
