// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class MainTest {
  /** A command that fails as in a jar without one of its classes. */
  public static final class Broken {
    private Broken() {}

    public static int run(String[] arguments) {
      if (arguments.length > 0) {
        throw new NoClassDefFoundError("org/example/" + arguments[0]);
      }
      return Commands.USABLE;
    }
  }

  @Test
  void shouldEndWithTheExitCodeOfAFailureAfterAnError() {
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    PrintStream errors = new PrintStream(printed, true, StandardCharsets.UTF_8);
    assertThat(Main.run(() -> Broken.class, new String[] {"Missing"}, errors))
        .isEqualTo(Commands.FAILED);
    assertThat(printed.toString(StandardCharsets.UTF_8))
        .startsWith("The command failed. Please report this:")
        .contains("NoClassDefFoundError: org/example/Missing");
  }
}
