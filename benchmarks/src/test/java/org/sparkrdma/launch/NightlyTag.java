// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * One use of the tag {@code nightly} in the sources of tests.
 *
 * @param type simple name of the class
 * @param method null where the whole class is tagged
 * @param guest whether the test is among those on kernels with soft RDMA
 */
record NightlyTag(String module, String type, String method, boolean guest) {
  private static final String TAG = "@Tag(\"nightly\")";

  /** The next class or method, which an annotation is of. */
  private static final Pattern DECLARATION = Pattern.compile("\\bclass (\\w+)|\\bvoid (\\w+)\\(");

  /** All uses in all modules. */
  static List<NightlyTag> all() throws IOException {
    List<NightlyTag> tags = new ArrayList<>();
    for (String module : DocumentationFiles.MODULES) {
      Path sources = DocumentationFiles.PROJECT.resolve(module).resolve("src/test");
      try (Stream<Path> files = Files.walk(sources)) {
        for (Path file : files.filter(NightlyTag::isJava).sorted().toList()) {
          tags.addAll(in(module, file));
        }
      }
    }
    return tags;
  }

  private static boolean isJava(Path file) {
    return file.toString().endsWith(".java");
  }

  private static List<NightlyTag> in(String module, Path file) throws IOException {
    String source = Files.readString(file);
    String name = file.getFileName().toString().replace(".java", "");
    boolean guest = file.toString().contains("/org/sparkrdma/guest/");
    List<NightlyTag> tags = new ArrayList<>();
    Matcher declaration = DECLARATION.matcher(source);
    for (int at = source.indexOf(TAG); at >= 0; at = source.indexOf(TAG, at + 1)) {
      if (!declaration.find(at)) {
        throw new IllegalStateException("a tag of nothing: " + file);
      }
      tags.add(new NightlyTag(module, name, declaration.group(2), guest));
    }
    return tags;
  }

  /** Whether Failsafe runs it, by its name. */
  boolean isIntegrationTest() {
    return type.endsWith("IT");
  }
}
