// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch.git;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class GitRepositoryTest {
  @TempDir private Path directory;

  @Test
  void shouldFindACommitAndFilesThatDifferFromIt() throws Exception {
    GitRepository repository = new GitRepository(directory);
    assertThat(repository.commit("HEAD")).isEmpty();

    git("init", "--quiet");
    Path file = Files.writeString(directory.resolve("file"), "1");
    Files.writeString(directory.resolve(".gitignore"), "target\n");
    git("add", ".");
    git("-c", "user.name=a", "-c", "user.email=b", "commit", "--quiet", "-m", "A subject");
    assertThat(repository.commit("HEAD"))
        .hasValueSatisfying(
            commit -> {
              assertThat(commit.subject()).isEqualTo("A subject");
              assertThat(commit.shortHash()).matches("[0-9a-f]{10}");
            });
    assertThat(repository.commit("nothing")).isEmpty();

    Files.writeString(directory.resolve("target"), "ignored");
    assertThat(repository.hasChanges()).isFalse();
    Files.writeString(file, "2");
    assertThat(repository.hasChanges()).isTrue();
    Files.writeString(file, "1");
    Files.writeString(directory.resolve("another"), "new");
    assertThat(repository.hasChanges()).as("a file that is not committed").isTrue();
  }

  private void git(String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of("git", "-C", directory.toString()));
    command.addAll(List.of(arguments));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
  }
}
