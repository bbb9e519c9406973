// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.verbs.ibverbs.ScriptedDevice;

/** {@code ./card --facts} of a scripted device. */
@Tag("slow")
class VerbsFactsTest {
  @RegisterExtension static final ScriptedDevice DEVICE = new ScriptedDevice();

  @TempDir private Path root;
  @TempDir private Path folder;

  private JsonNode facts(String fileSystem) throws IOException {
    Files.createDirectories(root.resolve("proc/self"));
    Files.writeString(
        root.resolve("proc/self/mountinfo"),
        "22 1 0:18 / / rw - " + fileSystem + " server:/export rw\n");
    return new VerbsFacts(new HostFacts(root), folder).of(DEVICE.library().verbs()).get(0);
  }

  /** One registration is memory. */
  @ParameterizedTest
  @CsvSource({
    "0, nfs4, yes, yes, 3",
    "0, ext4, yes, yes, 3",
    "1, ext4, 'no, errno=14', yes, 3",
    "1, nfs4, 'no, errno=14', not tried: the kernel may write files of nfs4 again, 2"
  })
  void shouldNotRegisterAFileOfNfsThatTheKernelMayWrite(
      int writePins, String fileSystem, String readOnly, String writable, int calls)
      throws IOException {
    DEVICE.library().limit("write_pins", writePins);
    long before = DEVICE.library().calls("ibv_reg_mr");
    JsonNode facts = facts(fileSystem);
    assertThat(facts.path("memoryForRemoteRead").asText()).isEqualTo("yes");
    assertThat(facts.path("readOnlyFileForRemoteRead").asText()).isEqualTo(readOnly);
    assertThat(facts.path("fileForRemoteRead").asText()).startsWith(writable);
    assertThat(DEVICE.library().calls("ibv_reg_mr") - before).isEqualTo(calls);
    assertThat(folder).isEmptyDirectory();
  }
}
