// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.contract;

import org.junit.jupiter.api.Nested;

/** The whole contract suite. The test of an engine extends it. */
public abstract class VerbsContractSuite {
  /** The engine that the suite runs on. */
  protected abstract EngineUnderTest engineUnderTest();

  @Nested
  class Connections extends ConnectionContract {
    @Override
    protected EngineUnderTest engine() {
      return engineUnderTest();
    }
  }

  @Nested
  class Reads extends ReadContract {
    @Override
    protected EngineUnderTest engine() {
      return engineUnderTest();
    }
  }

  @Nested
  class Sends extends SendContract {
    @Override
    protected EngineUnderTest engine() {
      return engineUnderTest();
    }
  }

  @Nested
  class Writes extends WriteContract {
    @Override
    protected EngineUnderTest engine() {
      return engineUnderTest();
    }
  }

  @Nested
  class Limits extends LimitContract {
    @Override
    protected EngineUnderTest engine() {
      return engineUnderTest();
    }
  }

  @Nested
  class Memory extends MemoryContract {
    @Override
    protected EngineUnderTest engine() {
      return engineUnderTest();
    }
  }

  @Nested
  class FileRegions extends FileRegionContract {
    @Override
    protected EngineUnderTest engine() {
      return engineUnderTest();
    }
  }

  @Nested
  class Completions extends CompletionContract {
    @Override
    protected EngineUnderTest engine() {
      return engineUnderTest();
    }
  }

  @Nested
  class Devices extends DeviceContract {
    @Override
    protected EngineUnderTest engine() {
      return engineUnderTest();
    }
  }

  @Nested
  class TwoProcesses extends TwoProcessContract {
    @Override
    protected EngineUnderTest engine() {
      return engineUnderTest();
    }
  }

  @Nested
  class LateReads extends LateContract {
    @Override
    protected EngineUnderTest engine() {
      return engineUnderTest();
    }
  }

  @Nested
  class Stress extends StressContract {
    @Override
    protected EngineUnderTest engine() {
      return engineUnderTest();
    }
  }
}
