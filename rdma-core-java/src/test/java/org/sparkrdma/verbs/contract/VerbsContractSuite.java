// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.contract;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;

/** The whole contract suite. The test of an engine extends it. */
public abstract class VerbsContractSuite {
  /** The engine of the suite that runs now; its tests run one after another. */
  private static EngineUnderTest current;

  /** The engine that the suite runs on. */
  protected abstract EngineUnderTest engineUnderTest();

  @BeforeEach
  final void use() {
    current = engineUnderTest();
  }

  static EngineUnderTest current() {
    return current;
  }

  @Nested
  class Connections extends ConnectionContract {}

  @Nested
  class Reads extends ReadContract {}

  @Nested
  class Sends extends SendContract {}

  @Nested
  class Writes extends WriteContract {}

  @Nested
  class Limits extends LimitContract {}

  @Nested
  class Memory extends MemoryContract {}

  @Nested
  class FileRegions extends FileRegionContract {}

  @Nested
  class Completions extends CompletionContract {}

  @Nested
  class Devices extends DeviceContract {}

  @Nested
  class TwoProcesses extends TwoProcessContract {}

  @Nested
  class LateReads extends LateContract {}

  @Nested
  class Posts extends PostContract {}

  @Nested
  class Stress extends StressContract {}
}
