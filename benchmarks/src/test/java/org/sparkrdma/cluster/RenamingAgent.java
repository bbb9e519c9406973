// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;
import org.apache.xbean.asm9.ClassReader;
import org.apache.xbean.asm9.ClassWriter;
import org.apache.xbean.asm9.Opcodes;
import org.apache.xbean.asm9.commons.ClassRemapper;
import org.apache.xbean.asm9.commons.Remapper;

/**
 * Makes another version of Spark: gives members another name, in their classes and in all of
 * Spark's own uses, so that Spark works as before. The option of the agent is a list of {@code
 * NAME[DESCRIPTOR][~NEW_NAME]}.
 */
public final class RenamingAgent {
  private static final String SPARK = "org/apache/spark/";

  private RenamingAgent() {}

  /** Called by the JVM. */
  public static void premain(String members, Instrumentation instrumentation) {
    Map<String, String> renamed = new HashMap<>();
    for (String member : members.split(",", -1)) {
      String[] names = member.split("~", 2);
      String old = names[0].replaceFirst("\\(.*", "");
      renamed.put(names[0], names.length > 1 ? names[1] : old + "Renamed");
    }
    List<String> searched =
        renamed.keySet().stream().map(name -> name.replaceFirst("\\(.*", "")).toList();
    Remapper names =
        new Remapper(Opcodes.ASM9) {
          @Override
          public String mapMethodName(String owner, String name, String descriptor) {
            String exact = owner.startsWith(SPARK) ? renamed.get(name + descriptor) : name;
            return exact == null ? renamed.getOrDefault(name, name) : exact;
          }

          @Override
          public String mapFieldName(String owner, String name, String descriptor) {
            return mapMethodName(owner, name, descriptor);
          }
        };
    instrumentation.addTransformer(
        new ClassFileTransformer() {
          @Override
          public byte[] transform(
              ClassLoader loader,
              String name,
              Class<?> type,
              ProtectionDomain domain,
              byte[] file) {
            String text = new String(file, StandardCharsets.ISO_8859_1);
            if (!name.startsWith(SPARK)
                || name.startsWith(SPARK + "shuffle/rdma/")
                || searched.stream().noneMatch(text::contains)) {
              return null;
            }
            ClassWriter writer = new ClassWriter(0);
            new ClassReader(file).accept(new ClassRemapper(writer, names), 0);
            return writer.toByteArray();
          }
        });
  }

  /** The jar for {@code -javaagent}. */
  static Path jar(Path jar) throws IOException {
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().putValue("Premain-Class", RenamingAgent.class.getName());
    String prefix = RenamingAgent.class.getName().replace('.', '/');
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar), manifest)) {
      for (String name : List.of(prefix, prefix + "$1", prefix + "$2")) {
        out.putNextEntry(new ZipEntry(name + ".class"));
        try (InputStream file =
            RenamingAgent.class.getClassLoader().getResourceAsStream(name + ".class")) {
          file.transferTo(out);
        }
      }
    }
    return jar;
  }
}
