// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TypeInsnNode;

/**
 * Lists what the plug-in's classes use of Spark, Scala and the libraries that Spark brings, by part of the plug-in. Run as
 * {@code java -cp asm.jar:asm-tree.jar ListLinks.java CLASSES FILE}. {@code shuffle.links.LinkCheck} reads FILE, whose lines have
 * fields with tabs between them:
 *
 * <pre>
 *   PART type CLASS                      named, or a supertype
 *   PART field|method|interface-method CLASS NAME DESCRIPTOR static|instance
 *   PART own CLASS                       a concrete class of ours with supertypes of others, which must leave no method abstract
 *   PART named CLASS NAME PARAMETERS     reached by reflection: one of these numbers of parameters ([]: the last is an array), or the type of a field
 *   PART forwards CLASS OF               overrides each public method of OF that can be overridden
 * </pre>
 *
 * The class LinkedMembers, written beside FILE, calls the instance method of a line on null when it is called with the line's number. The
 * JVM looks a method up before it looks at the object, so a NullPointerException shows that it is there.
 */
final class ListLinks {
  /** Not of Spark: the JDK, our own, and libraries in our jar or beside it. */
  private static final List<String> OTHERS = List.of(
      "java/", "javax/", "jdk/", "org/sparkrdma/", "org/apache/spark/shuffle/rdma/", "org/HdrHistogram/", "picocli/", "com/kenai/");

  /** The first pattern that the beginning of a class matches gives its part; all others belong to the client. */
  private static final List<String> PARTS = List.of(
      "driver RdmaPlugin[$]OnDriver|driver/|directory/Driver|executorchecks/FindingsLog|spark/ExecutorClassPath",
      "start RdmaShuffleManager|RdmaPlugin|ExecutorSide|settings/|links/|org/apache/",
      "beside spark/OtherManager",
      "reader read/RdmaShuffleReader|read/Record|spark/ShuffleStreams|spark/Sorting",
      "serving serve/|output/",
      "broadcast broadcast/",
      "history ui/RdmaHistoryPlugin|ui/StoredFigures|ui/RdmaShuffleEvent|spark/ui/SparkHistory",
      "ui ui/|spark/ui/");

  /** Those of the kind named are the constants of {@code shuffle.spark.Reflected}. */
  private static final List<String> BY_NAME = List.of(
      "beside named org.apache.spark.storage.BlockManager blockStoreClient org.apache.spark.network.shuffle.BlockStoreClient",
      "beside named org.apache.spark.SparkEnv shuffleManager|blockingShuffleManager|defaultShuffleManager 0",
      "reader named org.apache.spark.util.collection.ExternalSorter <init> 5,6[]",
      "ui named org.apache.spark.ui.UIUtils headerSparkPage 7,8",
      "ui named org.apache.spark.ui.WebUIPage render 1",
      "client forwards org.sparkrdma.shuffle.spark.ForwardingClient org.apache.spark.network.shuffle.BlockStoreClient");

  /** Instructions that push zero or null, by the sort of a type. */
  private static final int[] ZERO = {0, 3, 3, 3, 3, 3, Opcodes.FCONST_0, Opcodes.LCONST_0, Opcodes.DCONST_0, 1, 1};

  private static final Map<String, ClassNode> OWN = new HashMap<>();
  private static final Set<String> LINES = new TreeSet<>();
  private static String part;

  public static void main(String[] arguments) throws IOException {
    try (Stream<Path> files = Files.walk(Path.of(arguments[0]))) {
      // Commands run without Spark, or with spark-submit alone.
      for (Path one : files.filter(file -> file.toString().matches("(?!.*/org/sparkrdma/shuffle/(tools|estimate)/).*(?<!LinkedMembers)[.]class")).toList()) {
        ClassNode node = new ClassNode();
        new ClassReader(Files.readAllBytes(one)).accept(node, ClassReader.SKIP_DEBUG);
        OWN.put(node.name, node);
      }
    }
    OWN.values().forEach(ListLinks::addUses);
    BY_NAME.forEach(line -> LINES.add(line.replace(' ', '\t')));
    Files.write(Path.of(arguments[1]), LINES);
    Files.write(Path.of(arguments[1]).resolveSibling("LinkedMembers.class"), probe(LINES));
  }

  /** The class LinkedMembers. */
  private static byte[] probe(Collection<String> lines) {
    ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_FRAMES);
    String[] called = {"java/util/function/IntConsumer"};
    writer.visit(Opcodes.V17, Opcodes.ACC_PUBLIC | Opcodes.ACC_SUPER, "org/sparkrdma/shuffle/links/LinkedMembers", null, "java/lang/Object", called);
    MethodVisitor constructor = writer.visitMethod(Opcodes.ACC_PUBLIC, "<init>", "()V", null, null);
    constructor.visitVarInsn(Opcodes.ALOAD, 0);
    constructor.visitMethodInsn(Opcodes.INVOKESPECIAL, "java/lang/Object", "<init>", "()V", false);
    constructor.visitInsn(Opcodes.RETURN);
    constructor.visitMaxs(0, 0);
    MethodVisitor accept = writer.visitMethod(Opcodes.ACC_PUBLIC, "accept", "(I)V", null, null);
    Label[] cases = Stream.generate(Label::new).limit(lines.size()).toArray(Label[]::new);
    accept.visitVarInsn(Opcodes.ILOAD, 1);
    accept.visitTableSwitchInsn(0, cases.length - 1, cases[0], cases);
    int number = 0;
    for (String line : lines) {
      accept.visitLabel(cases[number++]);
      String[] fields = line.split("\t");
      if (line.endsWith("instance") && !fields[1].equals("field") && !fields[3].equals("<init>")) {
        boolean isInterface = fields[1].startsWith("interface");
        accept.visitInsn(Opcodes.ACONST_NULL);
        Stream.of(Type.getArgumentTypes(fields[4])).forEach(type -> accept.visitInsn(ZERO[type.getSort()]));
        accept.visitMethodInsn(isInterface ? Opcodes.INVOKEINTERFACE : Opcodes.INVOKEVIRTUAL, fields[2].replace('.', '/'), fields[3], fields[4], isInterface);
      }
      accept.visitInsn(Opcodes.RETURN);
    }
    accept.visitMaxs(0, 0);
    return writer.toByteArray();
  }

  private static void addUses(ClassNode node) {
    String name = node.name.replaceFirst("^org/sparkrdma/shuffle/", "");
    part = PARTS.stream().filter(one -> name.matches("(" + one.split(" ", 2)[1] + ").*")).findFirst().orElse("client").split(" ")[0];
    above(node).forEach(ListLinks::addType);
    if ((node.access & Opcodes.ACC_ABSTRACT) == 0 && above(node).anyMatch(ListLinks::isForeign)) {
      add("own", node.name.replace('/', '.'));
    }
    for (MethodNode method : node.methods) {
      method.instructions.forEach(ListLinks::addUse);
      method.tryCatchBlocks.stream().filter(block -> block.type != null).forEach(block -> addType(block.type));
    }
  }

  private static Stream<String> above(ClassNode type) {
    return Stream.concat(Stream.of(type.superName), type.interfaces.stream());
  }

  private static void addUse(AbstractInsnNode instruction) {
    if (instruction instanceof TypeInsnNode use) {
      addType(use.desc);
    } else if (instruction instanceof FieldInsnNode use) {
      addMember("field", use.owner, use.name, use.desc, Set.of(Opcodes.GETSTATIC, Opcodes.PUTSTATIC).contains(use.getOpcode()));
    } else if (instruction instanceof MethodInsnNode use) {
      addMember(use.itf ? "interface-method" : "method", use.owner, use.name, use.desc, use.getOpcode() == Opcodes.INVOKESTATIC);
    } else if (instruction instanceof InvokeDynamicInsnNode use) {
      // A lambda: the method that is called, and that of the functional interface.
      for (Object argument : use.bsmArgs) {
        if (argument instanceof Handle to) {
          boolean isStatic = to.getTag() == Opcodes.H_INVOKESTATIC;
          addMember(to.isInterface() ? "interface-method" : "method", to.getOwner(), to.getName(), to.getDesc(), isStatic);
        } else if (argument instanceof Type erased && erased.getSort() == Type.METHOD && erased == use.bsmArgs[0]) {
          addMember("interface-method", Type.getReturnType(use.desc).getInternalName(), use.name, erased.getDescriptor(), false);
        }
      }
    }
  }

  private static void addType(String internalName) {
    String element = internalName.replaceFirst("^\\[+L?", "").replace(";", "");
    if (element.length() > 1 && isForeign(element)) {
      add("type", element.replace('/', '.'));
    }
  }

  private static void addMember(String kind, String owner, String name, String descriptor, boolean isStatic) {
    String declaring = declaring(owner, name + descriptor);
    if (declaring != null && !declaring.startsWith("[") && isForeign(declaring)) {
      add(kind, declaring.replace('/', '.'), name, descriptor, isStatic ? "static" : "instance");
    }
  }

  /** The supertype of others from which a class has a method or field, the nearest that may; null when it is ours. */
  private static String declaring(String owner, String member) {
    ClassNode type = OWN.get(owner);
    if (type == null) {
      return owner;
    }
    if (type.methods.stream().anyMatch(one -> member.equals(one.name + one.desc)) || type.fields.stream().anyMatch(one -> member.equals(one.name + one.desc))) {
      return null;
    }
    List<String> above = above(type).map(one -> String.valueOf(declaring(one, member))).toList();
    return above.contains("null") ? null : above.stream().filter(ListLinks::isForeign).findFirst().orElse(null);
  }

  private static void add(String... fields) {
    LINES.add(part + "\t" + String.join("\t", fields));
  }

  private static boolean isForeign(String owner) {
    return OTHERS.stream().noneMatch(owner::startsWith);
  }
}
