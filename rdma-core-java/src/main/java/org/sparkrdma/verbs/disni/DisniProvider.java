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
package org.sparkrdma.verbs.disni;

import java.nio.file.Path;
import java.util.List;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.spi.EngineSetting;
import org.sparkrdma.verbs.spi.EngineSettings;
import org.sparkrdma.verbs.spi.EngineUnavailableException;
import org.sparkrdma.verbs.spi.VerbsProvider;

/**
 * The DiSNI engine: RDMA devices of this machine, through the libdisni that the user has installed.
 * This class itself needs nothing of DiSNI.
 */
public final class DisniProvider implements VerbsProvider {
  /** For the service loader. */
  public DisniProvider() {}

  @Override
  public String name() {
    return DisniSettings.NAME;
  }

  @Override
  public int order() {
    // Only by name: its connections cannot prove who a peer is, so no shuffle goes over it.
    return -1;
  }

  @Override
  public List<EngineSetting> settings() {
    return DisniSettings.all();
  }

  @Override
  public void validate(EngineSettings settings) {
    DisniSettings.of(settings);
  }

  @Override
  public VerbsEngine load(EngineSettings settings) throws EngineUnavailableException {
    DisniSettings checked = DisniSettings.of(settings);
    var machine = new Machine(Path.of("/"));
    machine.check(DisniProvider.class.getClassLoader());
    return new DisniEngine(machine.devices(), checked);
  }
}
