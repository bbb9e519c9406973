// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkrdma.verbs.ibverbs.ffi.Architecture;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts;

/**
 * Compares offsets and sizes of structs with those of the C compilers. The headers are those of
 * this machine, or of the folder in the system property {@code rdma.headers}, for other versions.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class LayoutsIT {
  private static final Path INCLUDE =
      Path.of(System.getProperty("rdma.headers", "/usr/include")).toAbsolutePath();
  private static final String MISSING =
      "layouts of structs: install gcc libc6-dev libibverbs-dev librdmacm-dev";
  private static final List<String> HEADERS = List.of("infiniband/verbs.h", "rdma/rdma_cma.h");

  /** Beginnings of names that stand for a member of a member. */
  private static final List<String> MEMBERS =
      List.of("ops", "cap", "wr.rdma", "route.addr", "param.conn");

  /** Values that are no size and no offset of the member that their name says. */
  private static final Map<String, String> OTHERS =
      Map.of(
          "VerbsContext.QUERY_DEVICE_EX_TO_CONTEXT",
              "offsetof(struct verbs_context, context)"
                  + " - offsetof(struct verbs_context, query_device_ex)",
          "VerbsContext.QUERY_DEVICE_EX_TO_END",
              "sizeof(struct verbs_context) - offsetof(struct verbs_context, query_device_ex)",
          "VerbsContext.SZ_TO_CONTEXT",
              "offsetof(struct verbs_context, context) - offsetof(struct verbs_context, sz)",
          "IbvDeviceAttrEx.ODP_CAPS_GENERAL",
              "offsetof(struct ibv_device_attr_ex, odp_caps.general_caps)",
          "IbvDeviceAttrEx.ODP_CAPS_RC",
              "offsetof(struct ibv_device_attr_ex, odp_caps.per_transport_caps.rc_odp_caps)");

  @TempDir private Path directory;

  @BeforeEach
  void requireHeaders() {
    assumeTrue(HEADERS.stream().map(INCLUDE::resolve).allMatch(Files::exists), MISSING);
  }

  /** The compiler compares by itself, so nothing runs on a processor of that architecture. */
  @ParameterizedTest
  @EnumSource
  void shouldMatchTheCompilerOf(Architecture architecture) throws Exception {
    String triplet = triplet(architecture);
    boolean own = Architecture.of(System.getProperty("os.arch")).orElseThrow() == architecture;
    String compiler = own ? "cc" : triplet + "-gcc";
    assumeTrue(
        hasCompiler(compiler),
        own
            ? MISSING
            : "layouts of structs on another architecture: install gcc-"
                + triplet.replace('_', '-'));
    Map<String, Integer> values = ofJava(architecture);
    assertThat(compare(compiler, values)).isEmpty();
    values.replaceAll((name, value) -> value + 1);
    assertThat(compare(compiler, values)).as("all are compared").contains(values.keySet());
  }

  private static String triplet(Architecture architecture) {
    return switch (architecture) {
      case X86_64 -> "x86_64-linux-gnu";
      case AARCH64 -> "aarch64-linux-gnu";
    };
  }

  private boolean hasCompiler(String name) throws Exception {
    try {
      return run(name, "--version").exitValue() == 0;
    } catch (IOException e) {
      return false;
    }
  }

  /** The output of the compiler; empty when its values equal these. */
  private String compare(String compiler, Map<String, Integer> values) throws Exception {
    StringBuilder lines =
        new StringBuilder("#define _GNU_SOURCE\n#include <poll.h>\n#include <stddef.h>\n");
    HEADERS.forEach(header -> lines.append("#include <" + header + ">\n"));
    values.forEach(
        (name, value) ->
            lines.append("_Static_assert(%s == %d, \"%s\");\n".formatted(ofC(name), value, name)));
    Path source = Files.writeString(directory.resolve("layouts.c"), lines);
    run(compiler, "-fsyntax-only", "-Wall", "-I" + headersOfRdma(), source.toString());
    return output();
  }

  /** The expression of C for {@code STRUCT.FIELD}. */
  private static String ofC(String name) {
    String[] parts = name.split("[.]", 2);
    String struct =
        "struct " + parts[0].replaceAll("(?<!^)([A-Z])", "_$1").toLowerCase(Locale.ROOT);
    String member = parts[1].toLowerCase(Locale.ROOT);
    for (String outer : MEMBERS) {
      String prefix = outer.replace('.', '_') + "_";
      member = member.startsWith(prefix) ? member.replaceFirst(prefix, outer + ".") : member;
    }
    return OTHERS.getOrDefault(
        name,
        member.equals("size")
            ? "sizeof(" + struct + ")"
            : "offsetof(" + struct + ", " + member + ")");
  }

  /** A folder without the C library's headers, since each compiler has its own. */
  private Path headersOfRdma() throws IOException {
    Path folder = Files.createDirectories(directory.resolve("include"));
    for (String header : HEADERS) {
      Path link = folder.resolve(header).getParent();
      if (!Files.exists(link)) {
        Files.createSymbolicLink(link, INCLUDE.resolve(header).getParent());
      }
    }
    return folder;
  }

  private Process run(String... command) throws Exception {
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("output").toFile())
            .start();
    process.waitFor();
    return process;
  }

  private String output() throws IOException {
    return Files.readString(directory.resolve("output")).strip();
  }

  private static Map<String, Integer> ofJava(Architecture architecture)
      throws IllegalAccessException {
    Map<String, Integer> values = new TreeMap<>();
    for (Class<?> struct : Layouts.class.getClasses()) {
      for (Field field : struct.getFields()) {
        values.put(struct.getSimpleName() + "." + field.getName(), field.getInt(null));
      }
    }
    values.put("IbvContext.ABI_COMPAT", Layouts.IbvContext.abiCompat(architecture));
    values.put(
        "VerbsContext.QUERY_DEVICE_EX_TO_END",
        Layouts.VerbsContext.queryDeviceExToEnd(architecture));
    return values;
  }
}
