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
package org.sparkrdma.verbs.spi;

import org.sparkrdma.verbs.VerbsException;

/** An engine cannot run here. The message is one sentence with the reason and the remedy. */
public final class EngineUnavailableException extends VerbsException {
  private static final long serialVersionUID = 1L;

  /** The reason in one sentence; not null. */
  public EngineUnavailableException(String reason) {
    this(reason, null);
  }

  /** The reason in one sentence, not null, and its cause, which may be null. */
  public EngineUnavailableException(String reason, Throwable cause) {
    super("load", NO_ERRNO, reason, cause);
  }
}
