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
package org.sparkrdma.guest;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Programs of these tests in a guest, on the packaged plug-in. */
final class GuestJava {
  private GuestJava() {}

  /** The beginning of a shell command, up to the main class. */
  static String command(String options) throws IOException {
    String logging =
        Stream.of(
                Files.readString(Path.of(Build.property("it.test.classpath")))
                    .split(File.pathSeparator, -1))
            .filter(jar -> jar.contains("slf4j-api"))
            .collect(Collectors.joining(File.pathSeparator));
    return String.join(
        " ",
        GuestJdk.home() + "/bin/java",
        "-XX:+UseSerialGC --enable-native-access=ALL-UNNAMED",
        options,
        "-cp",
        String.join(
            File.pathSeparator,
            Build.property("it.plugin.jar"),
            Build.property("it.jobs.jar"),
            logging));
  }
}
