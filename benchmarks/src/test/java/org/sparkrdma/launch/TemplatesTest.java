// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
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

/**
 * Syntax of the templates and recipes in conf/; those for spark-defaults.conf also have the right
 * keys.
 */
class TemplatesTest {
  private static final Path CONF = Path.of("..", "conf");

  @ParameterizedTest
  @CsvSource({
    "yarn.conf.template, spark.plugins, org.sparkrdma.shuffle.RdmaPlugin",
    "kubernetes.conf.template, spark.plugins, org.sparkrdma.shuffle.RdmaPlugin",
    "kubernetes.conf.template, spark.shuffle.manager, org.sparkrdma.shuffle.RdmaShuffleManager",
    "recipes/yarn-kerberos-rhel8.conf, spark.plugins, org.sparkrdma.shuffle.RdmaPlugin"
  })
  void shouldHaveLinesOfAKeyAndAValueThatThePlugInAccepts(String name, String key, String value)
      throws IOException {
    Map<String, String> settings = settings(name);
    SparkConf conf = new SparkConf(false);
    settings.forEach(conf::set);

    assertThat(ShuffleSettings.of(conf).notes()).isEmpty();
    assertThat(settings)
        .containsEntry(key, value)
        .containsEntry("spark.executor.memoryOverhead", "1792m");
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

    String home = settings("kubernetes.conf.template").get("spark.executorEnv.JAVA_HOME");
    assertThat(Files.readString(CONF.resolve("Dockerfile")))
        .contains("COPY " + JavaWithIpcLockTest.SCRIPT + " " + home + "/bin/java\n")
        .contains("cp /usr/bin/setpriv " + home + "/bin/setpriv")
        .contains("setcap " + JavaWithIpcLockTest.CAPABILITY + " " + home + "/bin/setpriv\n");
  }

  /** Names that parts of a recipe share are equal, and the plug-in takes its settings. */
  @ParameterizedTest
  @CsvSource({
    "operator-comet-infiniband.yaml, resourceList, true",
    "operator-roce.yaml, configList, false"
  })
  void shouldHaveARecipeWhosePartsFitTogether(String name, String resources, boolean restricted)
      throws IOException {
    Map<String, JsonNode> parts = new TreeMap<>();
    try (MappingIterator<JsonNode> documents =
        new YAMLMapper()
            .readerFor(JsonNode.class)
            .readValues(CONF.resolve("recipes").resolve(name).toFile())) {
      documents.forEachRemaining(part -> parts.put(part.at("/kind").asText(), part));
    }
    JsonNode plugIn =
        new ObjectMapper().readTree(parts.get("ConfigMap").at("/data/config.json").asText());
    JsonNode resource = plugIn.at("/" + resources + "/0");
    JsonNode attachment = parts.get("NetworkAttachmentDefinition");
    JsonNode network = new ObjectMapper().readTree(attachment.at("/spec/config").asText());
    JsonNode spec = parts.get("SparkApplication").at("/spec");
    JsonNode container = spec.at("/executor/template/spec/containers/0");
    SparkConf conf = new SparkConf(false);
    spec.at("/sparkConf")
        .properties()
        .forEach(entry -> conf.set(entry.getKey(), entry.getValue().asText()));

    assertThat(ShuffleSettings.of(conf).notes()).isEmpty();
    assertThat(conf.get("spark.plugins")).endsWith("org.sparkrdma.shuffle.RdmaPlugin");
    String offered =
        resource.at("/resourcePrefix").asText() + "/" + resource.at("/resourceName").asText();
    assertThat(container.at("/resources/limits").fieldNames())
        .toIterable()
        .containsExactly(offered);
    assertThat(conf.get("spark.kubernetes.executor.annotation.k8s.v1.cni.cncf.io/networks"))
        .isEqualTo(attachment.at("/metadata/name").asText())
        .isEqualTo(network.at("/name").asText());
    assertThat(conf.get("spark.shuffle.rdma.listen.address"))
        .isEqualTo(network.at("/ipam/range").asText());
    assertThat(container.at("/name").asText()).isEqualTo("spark-kubernetes-executor");
    assertThat(spec.at("/image").asText()).contains(":" + spec.at("/sparkVersion").asText() + "-");
    if (restricted) {
      assertThat(resource.at("/selectors/isRdma").asBoolean()).isTrue();
      assertThat(attachment.at("/metadata/annotations").elements().next().asText())
          .isEqualTo(offered);
      assertThat(container.at("/securityContext/allowPrivilegeEscalation").asText())
          .isEqualTo("false");
    } else {
      // IPC_LOCK has an effect with the image's Java only.
      assertThat(container.at("/securityContext/capabilities/add/0").asText())
          .isEqualTo("IPC_LOCK");
      assertThat(conf.get("spark.executorEnv.JAVA_HOME"))
          .isEqualTo(settings("kubernetes.conf.template").get("spark.executorEnv.JAVA_HOME"));
    }
  }

  /** The settings of a template, each of which stands in one line. */
  private static Map<String, String> settings(String name) throws IOException {
    Map<String, String> settings = new TreeMap<>();
    for (String line : lines(name)) {
      assertThat(line).matches("spark\\.[A-Za-z0-9._]+ +\\S+");
      String[] keyAndValue = line.split(" +", 2);
      assertThat(settings.put(keyAndValue[0], keyAndValue[1])).as(line).isNull();
    }
    return settings;
  }

  /** The lines of a template without comments and empty lines. */
  private static List<String> lines(String name) throws IOException {
    return Files.readAllLines(CONF.resolve(name)).stream()
        .filter(line -> !line.isBlank() && !line.strip().startsWith("#"))
        .toList();
  }
}
