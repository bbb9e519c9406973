// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.SparkEnv;
import org.apache.spark.storage.BlockManager;
import org.apache.spark.ui.UIUtils;
import org.apache.spark.ui.WebUIPage;
import org.apache.spark.util.collection.ExternalSorter;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.links.LinkCheck;

class ReflectedTest {
  private static Class<?> of(Reflected one) {
    return switch (one) {
      case CLIENT -> BlockManager.class;
      case MANAGER -> SparkEnv.class;
      case SORTER -> ExternalSorter.class;
      case PAGE_HEADER -> UIUtils.class;
      case PAGE_RENDER -> WebUIPage.class;
    };
  }

  /** One that the start does not look up would fail where it is used. */
  @Test
  void shouldBeWhatTheStartLooksUpByName() throws IOException {
    try (InputStream file = LinkCheck.class.getResourceAsStream("links.tsv")) {
      List<String> lines =
          new String(file.readAllBytes(), StandardCharsets.UTF_8)
              .lines()
              .filter(line -> line.contains("\tnamed\t"))
              .toList();
      assertThat(Arrays.stream(Reflected.values()).map(one -> one.line(of(one))))
          .containsExactlyInAnyOrderElementsOf(lines);
    }
  }

  /** A field of another type under its name, and a method with more parameters. */
  public static final class Changed {
    private final String blockStoreClient = "";

    public String shuffleManager(String of) {
      return of + blockStoreClient;
    }
  }

  @Test
  void shouldBeALinkageErrorWhereItHasChanged() {
    assertThatThrownBy(() -> Reflected.CLIENT.field(Changed.class))
        .isInstanceOf(NoSuchFieldError.class)
        .hasMessageContaining("Changed.blockStoreClient");
    assertThatThrownBy(() -> Reflected.MANAGER.method(Changed.class))
        .isInstanceOf(NoSuchMethodError.class)
        .hasMessageContaining("Changed.shuffleManager");
    assertThatThrownBy(() -> Reflected.SORTER.constructor(Changed.class))
        .isInstanceOf(NoSuchMethodError.class);
    assertThatThrownBy(() -> Reflected.CLIENT.field(String.class))
        .isInstanceOf(NoSuchFieldError.class);
  }
}
