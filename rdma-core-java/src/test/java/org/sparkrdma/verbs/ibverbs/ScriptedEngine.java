// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.engine.NetworkLinks;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;

/** The ibverbs engine over a {@link ScriptedLibrary}. */
public final class ScriptedEngine {
  /** The name of its device. */
  public static final String DEVICE = "scripted0";

  /** The system files of {@link #host}. */
  private static final Path ROOT =
      Path.of("target", "scripted-host-" + ProcessHandle.current().pid());

  private ScriptedEngine() {}

  /** On {@link #host}, as it is by default. The caller closes it. */
  public static VerbsEngine over(ScriptedLibrary library) {
    try {
      host().withDeviceFiles();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return over(library, NetworkLinks.ofSystem(ROOT));
  }

  /** A host with the network interfaces of this one. */
  static ScriptedHost host() {
    return new ScriptedHost(ROOT);
  }

  static VerbsEngine over(ScriptedLibrary library, NetworkLinks links) {
    return new IbverbsEngine(new Libraries(library.verbs(), library.cm()), links);
  }
}
