// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import java.nio.file.Path;
import java.util.List;

/** Command lines of the processes that the command starts. */
interface Programs {
  /** The jar of the plug-in that is tested. */
  Path pluginJar();

  /**
   * The contract suite.
   *
   * @param tests as the arguments of ContractMain
   */
  List<String> contract(List<String> tests);

  /**
   * The measurement of costs, {@link CostMain}.
   *
   * @param device its name
   * @param folder where the file is created
   */
  List<String> costs(String device, Path folder);

  /**
   * A command of the plug-in's jar.
   *
   * @param arguments such as {@code perf server}
   */
  List<String> plugin(List<String> arguments);
}
