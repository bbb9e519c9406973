// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;

/**
 * A scripted device for the tests of a class, as a static extension. After each test, and after
 * what the test class does then, the script ends and no object may be left in the device.
 */
public final class ScriptedDevice extends ScriptedLibrary.Available
    implements BeforeAllCallback, AfterEachCallback {
  private ScriptedLibrary library;

  @Override
  public void beforeAll(ExtensionContext context) throws Exception {
    library = ScriptedLibrary.load();
  }

  /** Its script. */
  public ScriptedLibrary library() {
    return library;
  }

  @Override
  public void afterEach(ExtensionContext context) {
    library.reset();
    IbverbsDevice.forgetRefusals();
    assertThat(library.outstanding()).as("objects left in the device").isZero();
  }
}
