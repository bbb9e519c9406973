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
package org.sparkrdma.verbs.ibverbs;

import java.util.List;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.spi.EngineSetting;
import org.sparkrdma.verbs.spi.EngineSettings;
import org.sparkrdma.verbs.spi.EngineUnavailableException;
import org.sparkrdma.verbs.spi.VerbsProvider;

/** Says why there is no ibverbs engine: this class is seen only where the real one is not. */
public final class IbverbsProvider implements VerbsProvider {
  private static final int ORDER = 10;
  private static final int LEAST_JAVA = 22;

  /** For the service loader. */
  public IbverbsProvider() {}

  @Override
  public String name() {
    return IbverbsSettings.NAME;
  }

  @Override
  public int order() {
    return ORDER;
  }

  @Override
  public List<EngineSetting> settings() {
    return IbverbsSettings.all();
  }

  @Override
  public void validate(EngineSettings settings) {
    IbverbsSettings.of(settings);
  }

  @Override
  public VerbsEngine load(EngineSettings settings) throws EngineUnavailableException {
    validate(settings);
    int java = Runtime.version().feature();
    throw new EngineUnavailableException(
        java < LEAST_JAVA
            ? "needs Java 22 or newer, this is " + java
            : "this jar was built without the part for Java 22 and newer: build it where a JDK of"
                + " 22 or newer can be found");
  }
}
