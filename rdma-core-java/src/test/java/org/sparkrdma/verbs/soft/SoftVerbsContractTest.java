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
package org.sparkrdma.verbs.soft;

import org.junit.jupiter.api.Nested;
import org.sparkrdma.verbs.contract.CompletionContract;
import org.sparkrdma.verbs.contract.ConnectionContract;
import org.sparkrdma.verbs.contract.DeviceContract;
import org.sparkrdma.verbs.contract.EngineUnderTest;
import org.sparkrdma.verbs.contract.FileRegionContract;
import org.sparkrdma.verbs.contract.LateContract;
import org.sparkrdma.verbs.contract.MemoryContract;
import org.sparkrdma.verbs.contract.ReadContract;
import org.sparkrdma.verbs.contract.SendContract;
import org.sparkrdma.verbs.contract.StressContract;
import org.sparkrdma.verbs.contract.TwoProcessContract;
import org.sparkrdma.verbs.contract.WriteContract;

/** The contract suite over the soft engine. */
class SoftVerbsContractTest {
  @Nested
  class Connections extends ConnectionContract {
    @Override
    protected EngineUnderTest engine() {
      return SoftUnderTest.ENGINE;
    }
  }

  @Nested
  class Reads extends ReadContract {
    @Override
    protected EngineUnderTest engine() {
      return SoftUnderTest.ENGINE;
    }
  }

  @Nested
  class Sends extends SendContract {
    @Override
    protected EngineUnderTest engine() {
      return SoftUnderTest.ENGINE;
    }
  }

  @Nested
  class Writes extends WriteContract {
    @Override
    protected EngineUnderTest engine() {
      return SoftUnderTest.ENGINE;
    }
  }

  @Nested
  class Memory extends MemoryContract {
    @Override
    protected EngineUnderTest engine() {
      return SoftUnderTest.ENGINE;
    }
  }

  @Nested
  class FileRegions extends FileRegionContract {
    @Override
    protected EngineUnderTest engine() {
      return SoftUnderTest.ENGINE;
    }
  }

  @Nested
  class Completions extends CompletionContract {
    @Override
    protected EngineUnderTest engine() {
      return SoftUnderTest.ENGINE;
    }
  }

  @Nested
  class Devices extends DeviceContract {
    @Override
    protected EngineUnderTest engine() {
      return SoftUnderTest.ENGINE;
    }
  }

  @Nested
  class TwoProcesses extends TwoProcessContract {
    @Override
    protected EngineUnderTest engine() {
      return SoftUnderTest.ENGINE;
    }
  }

  @Nested
  class LateReads extends LateContract {
    @Override
    protected EngineUnderTest engine() {
      return SoftUnderTest.ENGINE;
    }
  }

  @Nested
  class Stress extends StressContract {
    @Override
    protected EngineUnderTest engine() {
      return SoftUnderTest.ENGINE;
    }
  }
}
