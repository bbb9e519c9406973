// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.environment;

import picocli.CommandLine.IVersionProvider;

/** Version and commit of the jars, for {@code --version}. */
public final class JarVersions implements IVersionProvider {
  /** Called by picocli. */
  public JarVersions() {}

  @Override
  public String[] getVersion() {
    return new String[] {Environment.versions()};
  }
}
