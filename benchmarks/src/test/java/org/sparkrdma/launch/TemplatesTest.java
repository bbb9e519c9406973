// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.shuffle.settings.ShuffleSettings;

/** Syntax of the templates in conf/; those for spark-defaults.conf also have the right keys. */
class TemplatesTest {
  private static final Path CONF = Path.of("..", "conf");

  @ParameterizedTest
  @CsvSource({
    "yarn.conf.template, spark.plugins, org.sparkrdma.shuffle.RdmaPlugin",
    "kubernetes.conf.template, spark.plugins, org.sparkrdma.shuffle.RdmaPlugin",
    "kubernetes.conf.template, spark.shuffle.manager, org.sparkrdma.shuffle.RdmaShuffleManager"
  })
  void shouldHaveLinesOfAKeyAndAValueThatThePlugInAccepts(String name, String key, String value)
      throws IOException {
    Map<String, String> settings = new TreeMap<>();
    for (String line : lines(name)) {
      assertThat(line).matches("spark\\.[A-Za-z0-9._]+ +\\S+");
      String[] keyAndValue = line.split(" +", 2);
      assertThat(settings.put(keyAndValue[0], keyAndValue[1])).as(line).isNull();
    }
    SparkConf conf = new SparkConf(false);
    settings.forEach(conf::set);

    assertThat(ShuffleSettings.of(conf).notes()).isEmpty();
    assertThat(settings)
        .containsEntry(key, value)
        .containsEntry("spark.executor.memoryOverhead", "1792m");
  }

  @Test
  void shouldHaveAPodWithTheDevice() throws IOException {
    JsonNode pod = new YAMLMapper().readTree(CONF.resolve("kubernetes-executor-pod.yaml").toFile());
    JsonNode container = pod.at("/spec/containers/0");

    assertThat(pod.at("/apiVersion").asText()).isEqualTo("v1");
    assertThat(pod.at("/kind").asText()).isEqualTo("Pod");
    assertThat(container.at("/resources/limits").fieldNames())
        .toIterable()
        .singleElement()
        .asString()
        .startsWith("rdma/");
    assertThat(lines("kubernetes.conf.template"))
        .anyMatch(
            line ->
                line.startsWith("spark.kubernetes.executor.podTemplateContainerName ")
                    && line.endsWith(" " + container.at("/name").asText()));
  }

  /** Spark's image does not run as root, so that the capability has no effect by itself. */
  @Test
  void shouldHaveTheCapabilityToLockMemoryAndAJavaThatTakesIt() throws IOException {
    JsonNode pod = new YAMLMapper().readTree(CONF.resolve("kubernetes-executor-pod.yaml").toFile());
    JsonNode security = pod.at("/spec/containers/0/securityContext");
    assertThat(security.at("/capabilities/add"))
        .extracting(JsonNode::asText)
        .containsExactly("IPC_LOCK");
    assertThat(security.has("allowPrivilegeEscalation")).isFalse();

    String home =
        lines("kubernetes.conf.template").stream()
            .filter(line -> line.startsWith("spark.executorEnv.JAVA_HOME "))
            .map(line -> line.split(" +", 2)[1])
            .findAny()
            .orElseThrow();
    assertThat(Files.readString(CONF.resolve("Dockerfile")))
        .contains("COPY " + JavaWithIpcLockTest.SCRIPT + " " + home + "/bin/java\n")
        .contains("cp /usr/bin/setpriv " + home + "/bin/setpriv")
        .contains("setcap " + JavaWithIpcLockTest.CAPABILITY + " " + home + "/bin/setpriv\n");
  }

  /** The lines of a template without comments and empty lines. */
  private static List<String> lines(String name) throws IOException {
    return Files.readAllLines(CONF.resolve(name)).stream()
        .filter(line -> !line.isBlank() && !line.strip().startsWith("#"))
        .toList();
  }
}
