/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.verbs.contract;

import org.junit.jupiter.api.Nested;

/** The whole contract suite; an engine's test extends it. */
public abstract class VerbsContractSuite {
  /** Which engine the suite runs over. */
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
