// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A page of the documentation that a test generates, all of it or a part. */
public final class GeneratedPage {
  private static final String UPDATE = "update.docs";

  private GeneratedPage() {}

  /** Asserts the text of the page, or writes it with {@code -Dupdate.docs=true}. */
  public static void shouldBe(Path path, String expected) throws IOException {
    if (Boolean.getBoolean(UPDATE)) {
      Files.writeString(path, expected);
    }
    assertThat(Files.readString(path))
        .as("regenerate it by: ./mvnw test -pl shuffle-plugin -am -D" + UPDATE + "=true")
        .isEqualTo(expected);
  }

  /** The same for the part of a page between two lines, each of which it has once. */
  public static void partShouldBe(Path path, String begin, String end, String expected)
      throws IOException {
    String page = Files.readString(path);
    assertThat(page).containsOnlyOnce(begin).containsOnlyOnce(end);
    shouldBe(
        path,
        page.substring(0, page.indexOf(begin) + begin.length())
            + expected
            + page.substring(page.indexOf(end)));
  }
}
