// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.launch.ScriptHelp;

@Timeout(60)
class JobCommandTest {
  @Test
  void shouldHaveEveryOptionInTheHelpOfTheScript() throws Exception {
    ScriptHelp.assertExplains("bench groupby", JobCommand.commandLine(), "default "::concat);
  }
}
