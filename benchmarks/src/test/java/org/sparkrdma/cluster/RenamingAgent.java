// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;
import java.security.ProtectionDomain;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.xbean.asm9.ClassReader;
import org.apache.xbean.asm9.ClassWriter;
import org.apache.xbean.asm9.Handle;
import org.apache.xbean.asm9.Opcodes;
import org.apache.xbean.asm9.Type;
import org.apache.xbean.asm9.commons.SerialVersionUIDAdder;
import org.apache.xbean.asm9.tree.AbstractInsnNode;
import org.apache.xbean.asm9.tree.ClassNode;
import org.apache.xbean.asm9.tree.FieldInsnNode;
import org.apache.xbean.asm9.tree.InsnNode;
import org.apache.xbean.asm9.tree.InvokeDynamicInsnNode;
import org.apache.xbean.asm9.tree.MethodInsnNode;
import org.apache.xbean.asm9.tree.MethodNode;

/**
 * Makes another version of Spark: gives methods and fields another name, in their classes, in what
 * overrides them and in all uses of Spark and of the job, so that both work as before, also beside
 * processes without the agent. A constructor has one more parameter instead, which is null. The
 * option is a list of {@code CLASS.NAME[DESCRIPTOR][~NEW_NAME]}, or {@code CLASS.+NAME} for a
 * method that does nothing and that the class has in addition.
 */
public final class RenamingAgent implements ClassFileTransformer {
  private static final String SPARK = "org/apache/spark/";
  private static final Pattern CHANGED =
      Pattern.compile("org/apache/spark/(?!shuffle/rdma/).*|org/sparkrdma/cluster/job/.*");

  private static final Pattern OPTION = Pattern.compile("([^,.]+)[.]([^,(~]+)([^,~]*)~?([^,]*)");

  private final List<Member> members;
  private final Map<String, ClassNode> nodes = new ConcurrentHashMap<>();

  private RenamingAgent(List<Member> members) {
    this.members = members;
  }

  /** A method or field; all with its name when the descriptor is empty. */
  private record Member(String owner, String name, String descriptor, String other) {
    boolean isNamed(String used, String usedDescriptor) {
      return name.equals(used) && (descriptor.isEmpty() || descriptor.equals(usedDescriptor));
    }

    boolean isAddedTo(String type) {
      return owner.equals(type) && name.startsWith("+");
    }
  }

  /** Called by the JVM. */
  public static void premain(String option, Instrumentation instrumentation) {
    instrumentation.addTransformer(
        new RenamingAgent(
            OPTION
                .matcher(option)
                .results()
                .map(one -> new Member(one.group(1), one.group(2), one.group(3), one.group(4)))
                .toList()));
  }

  @Override
  public byte[] transform(
      ClassLoader loader, String name, Class<?> type, ProtectionDomain domain, byte[] file) {
    String text = new String(file, StandardCharsets.ISO_8859_1);
    if (!CHANGED.matcher(name).matches()
        || members.stream().noneMatch(one -> text.contains(one.name) || one.isAddedTo(name))) {
      return null;
    }
    ClassReader reader = new ClassReader(file);
    ClassNode node = new ClassNode();
    boolean isInterface = (reader.getAccess() & Opcodes.ACC_INTERFACE) != 0;
    reader.accept(isInterface ? node : new SerialVersionUIDAdder(node), ClassReader.EXPAND_FRAMES);
    node.fields.forEach(field -> field.name = renamed(name, field.name, field.desc));
    node.methods.forEach(method -> rename(name, method));
    members.stream()
        .filter(one -> one.isAddedTo(name))
        .forEach(one -> node.methods.add(added(one)));
    ClassWriter writer = new ClassWriter(0);
    node.accept(writer);
    return writer.toByteArray();
  }

  private static MethodNode added(Member member) {
    MethodNode method =
        new MethodNode(Opcodes.ACC_PUBLIC, member.name.substring(1), "()V", null, null);
    method.instructions.add(new InsnNode(Opcodes.RETURN));
    method.maxLocals = 1;
    return method;
  }

  private void rename(String owner, MethodNode method) {
    for (AbstractInsnNode one : method.instructions.toArray()) {
      if (one instanceof FieldInsnNode use) {
        use.name = renamed(use.owner, use.name, use.desc);
      } else if (one instanceof InvokeDynamicInsnNode use) {
        rename(use);
      } else if (one instanceof MethodInsnNode use && isAltered(use.owner, use.name, use.desc)) {
        method.instructions.insertBefore(use, new InsnNode(Opcodes.ACONST_NULL));
        use.desc = withOneMore(use.desc);
      } else if (one instanceof MethodInsnNode use) {
        use.name = renamed(use.owner, use.name, use.desc);
      }
    }
    method.maxStack++;
    if (isAltered(owner, method.name, method.desc)) {
      // A variable may take the place of the parameter, which nobody reads.
      method.desc = withOneMore(method.desc);
      method.maxLocals++;
    }
    method.name = renamed(owner, method.name, method.desc);
  }

  private void rename(InvokeDynamicInsnNode use) {
    for (int i = 0; i < use.bsmArgs.length; i++) {
      if (use.bsmArgs[i] instanceof Handle to) {
        String name = renamed(to.getOwner(), to.getName(), to.getDesc());
        use.bsmArgs[i] =
            new Handle(to.getTag(), to.getOwner(), name, to.getDesc(), to.isInterface());
      } else if (i == 0 && use.bsmArgs[i] instanceof Type method) {
        String owner = Type.getReturnType(use.desc).getInternalName();
        use.name = renamed(owner, use.name, method.getDescriptor());
      }
    }
  }

  private static String withOneMore(String descriptor) {
    return descriptor.replace(")", "Ljava/lang/Void;)");
  }

  private boolean isAltered(String owner, String name, String descriptor) {
    return name.equals("<init>")
        && members.stream()
            .anyMatch(one -> one.owner.equals(owner) && one.isNamed(name, descriptor));
  }

  private String renamed(String owner, String name, String descriptor) {
    String member = name + descriptor;
    for (Member one : members) {
      if (!name.equals("<init>")
          && one.isNamed(name, descriptor)
          && !Collections.disjoint(origins(owner, member), origins(one.owner, member))) {
        return one.other.isEmpty() ? name + "Renamed" : one.other;
      }
    }
    return name;
  }

  /**
   * The classes of Spark from which a class has a method or field, and which override none with it.
   */
  private Set<String> origins(String owner, String member) {
    Set<String> found = new TreeSet<>();
    if (owner.startsWith(SPARK)) {
      ClassNode node = nodes.computeIfAbsent(owner, RenamingAgent::read);
      Stream.concat(Stream.ofNullable(node.superName), node.interfaces.stream())
          .forEach(above -> found.addAll(origins(above, member)));
      boolean declares =
          node.methods.stream().anyMatch(method -> member.equals(method.name + method.desc))
              || node.fields.stream().anyMatch(field -> member.equals(field.name + field.desc));
      if (found.isEmpty() && declares) {
        found.add(owner);
      }
    }
    return found;
  }

  private static ClassNode read(String name) {
    ClassNode node = new ClassNode();
    try (InputStream file = ClassLoader.getSystemResourceAsStream(name + ".class")) {
      if (file != null) {
        new ClassReader(file).accept(node, ClassReader.SKIP_CODE);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return node;
  }
}
