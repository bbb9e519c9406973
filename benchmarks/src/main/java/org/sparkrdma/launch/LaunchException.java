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
package org.sparkrdma.launch;

import java.nio.file.Path;
import java.util.Optional;

/** A command cannot go on; the message is one sentence for the person at the terminal. */
public final class LaunchException extends Exception {
  private static final long serialVersionUID = 1L;

  private final transient Path log;

  /** Without a log. */
  public LaunchException(String sentence) {
    this(sentence, null);
  }

  /** With a log that tells more. */
  public LaunchException(String sentence, Path log) {
    super(sentence);
    this.log = log;
  }

  /** The log file whose last lines tell more, if there is one. */
  Optional<Path> log() {
    return Optional.ofNullable(log);
  }
}
