// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.nio.file.Path;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;

/** The ibverbs engine over a {@link ScriptedLibrary}. */
public final class ScriptedEngine {
  /** The name of its device. */
  public static final String DEVICE = "scripted0";

  private ScriptedEngine() {}

  /** The caller closes it. */
  public static VerbsEngine over(ScriptedLibrary library) {
    NetworkLinks system = NetworkLinks.ofSystem(Path.of("/"));
    return over(library, new NetworkLinks(system.directory(), system.source(), true));
  }

  static VerbsEngine over(ScriptedLibrary library, NetworkLinks links) {
    return new IbverbsEngine(new Libraries(library.verbs(), library.cm()), links);
  }

  /** Forgets that the device has refused to change access. */
  public static void forgetRefusals() {
    IbverbsDevice.forgetRefusals();
  }
}
