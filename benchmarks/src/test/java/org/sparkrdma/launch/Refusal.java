// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;

/** The sentence with which a command refuses its options. Stateless. */
public final class Refusal {
  private static final int MISUSE = 2;

  private Refusal() {}

  /** Executes the command, which must refuse the arguments. */
  public static String of(Class<?> command, String... arguments) {
    CommandLine line = Launcher.commandLine(command);
    List<String> sentences = new ArrayList<>();
    line.setParameterExceptionHandler(
        (problem, all) -> {
          sentences.add(problem.getMessage());
          return MISUSE;
        });
    assertThat(line.execute(arguments)).isEqualTo(MISUSE);
    assertThat(sentences).hasSize(1);
    return sentences.get(0);
  }
}
