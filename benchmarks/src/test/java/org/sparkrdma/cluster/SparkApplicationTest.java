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
package org.sparkrdma.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SparkApplicationTest {
  @Test
  void shouldPutOptionsBeforeTheJarAndArgumentsAfterIt() {
    var application =
        new SparkApplication(
            "sort",
            "a.Main",
            Path.of("/app.jar"),
            List.of(Path.of("/one.jar"), Path.of("/two.jar")),
            512,
            Map.of("spark.x", "1"),
            List.of("in", "out"));
    assertThat(String.join(" ", application.submitArguments("spark://h:1")))
        .isEqualTo(
            "--master spark://h:1 --driver-memory 512m --conf spark.x=1 --jars /one.jar,/two.jar"
                + " --class a.Main /app.jar in out");
  }

  @Test
  void shouldLeaveJarsOutWhenThereAreNone() {
    var application =
        new SparkApplication(
            "sort", "a.Main", Path.of("/app.jar"), List.of(), 512, Map.of(), List.of());
    assertThat(application.submitArguments("spark://h:1")).doesNotContain("--jars");
  }
}
