// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
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
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TypeInsnNode;

/**
 * Lists what the plug-in's classes use of Spark, Scala and the libraries that Spark brings, by part of the plug-in. Run as
 * {@code java -cp asm.jar:asm-tree.jar ListLinks.java CLASSES FILE}. {@code shuffle.links.LinkCheck} reads FILE, whose lines have
 * fields with tabs between them:
 *
 * <pre>
 *   PART type|class|interface CLASS
 *   PART field|method|interface-method CLASS NAME DESCRIPTOR static|instance [NUMBER in LinkedMembers]
 *   PART own CLASS                       a concrete class of ours with supertypes of others, which must leave no method abstract
 *   PART named CLASS NAME PARAMETERS     reached by reflection: one of these numbers of parameters ([]: the last is an array), or the type of a field
 *   PART forwards CLASS OF               overrides each public method of OF that can be overridden
 * </pre>
 *
 * The class LinkedMembers, written beside FILE, calls an instance method on null when it is called with its number. The JVM looks a
 * method up before it looks at the object, so a NullPointerException shows that it is there.
 */
final class ListLinks {
  /** Not of Spark: the JDK, our own, and libraries in our jar or beside it. */
  private static final List<String> OTHERS =
      List.of("java/", "javax/", "jdk/", "org/sparkrdma/", "org/apache/spark/shuffle/rdma/", "org/HdrHistogram/", "picocli/", "com/kenai/");

  /** The first prefix of a class gives its part; all others belong to the client. Commands run without Spark. */
  private static final Map<String, List<String>> PARTS = new LinkedHashMap<>();

  static {
    PARTS.put("driver", List.of("RdmaPlugin$OnDriver", "driver/", "directory/Driver", "executorchecks/FindingsLog", "spark/ExecutorClassPath"));
    PARTS.put("start", List.of("RdmaShuffleManager", "RdmaPlugin", "PluginParts", "settings/", "links/", "org/apache/"));
    PARTS.put("beside", List.of("spark/OtherManager"));
    PARTS.put("reader", List.of("read/RdmaShuffleReader", "read/GuardedRecords", "read/Record", "read/ReadRange", "read/BatchFetch",
        "spark/ShuffleStreams", "spark/Sorting"));
    PARTS.put("serving", List.of("serve/", "output/"));
    PARTS.put("broadcast", List.of("broadcast/"));
    PARTS.put("history", List.of("ui/RdmaHistoryPlugin", "ui/StoredFigures", "ui/RdmaShuffleEvent", "spark/ui/SparkHistory"));
    PARTS.put("ui", List.of("ui/", "spark/ui/"));
    PARTS.put("commands", List.of("tools/"));
  }

  private static final List<String> BY_NAME =
      List.of(
          "beside named org.apache.spark.storage.BlockManager blockStoreClient org.apache.spark.network.shuffle.BlockStoreClient",
          "beside named org.apache.spark.SparkEnv shuffleManager|blockingShuffleManager 0",
          "reader named org.apache.spark.util.collection.ExternalSorter <init> 5,6[]",
          "ui named org.apache.spark.ui.UIUtils headerSparkPage 7,8",
          "client forwards org.sparkrdma.shuffle.read.RdmaBlockClient org.apache.spark.network.shuffle.BlockStoreClient");

  private static final String PROBE = "LinkedMembers";

  /** Instructions that push zero or null, by the sort of a type. */
  private static final int[] ZERO = {0, 3, 3, 3, 3, 3, Opcodes.FCONST_0, Opcodes.LCONST_0, Opcodes.DCONST_0, 1, 1};

  private final Map<String, ClassNode> own = new HashMap<>();
  private final Set<String> lines = new TreeSet<>();
  private String part;

  public static void main(String[] arguments) throws IOException {
    new ListLinks().write(Path.of(arguments[0]), Path.of(arguments[1]));
  }

  private void write(Path classes, Path file) throws IOException {
    try (Stream<Path> all = Files.walk(classes)) {
      for (Path one : all.filter(path -> path.toString().endsWith(".class") && !path.endsWith(PROBE + ".class")).toList()) {
        ClassNode node = new ClassNode();
        new ClassReader(Files.readAllBytes(one)).accept(node, ClassReader.SKIP_DEBUG);
        own.put(node.name, node);
      }
    }
    own.values().forEach(this::addUses);
    BY_NAME.forEach(line -> lines.add(line.replace(' ', '\t')));
    Files.createDirectories(file.getParent());
    lines.removeIf(line -> line.startsWith("commands"));
    List<String> calls =
        lines.stream().filter(line -> line.endsWith("instance") && line.contains("method\t") && !line.contains("<init>")).map(ListLinks::member).distinct().toList();
    Files.write(file, lines.stream().map(line -> calls.contains(member(line)) ? line + "\t" + calls.indexOf(member(line)) : line).toList());
    Files.write(file.resolveSibling(PROBE + ".class"), probe(calls.stream().map(line -> line.split("\t")).toList()));
  }

  /** Without the part. */
  private static String member(String line) {
    return line.substring(line.indexOf('\t') + 1);
  }

  private static byte[] probe(List<String[]> calls) {
    ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_FRAMES);
    String name = "org/sparkrdma/shuffle/links/" + PROBE;
    writer.visit(Opcodes.V17, Opcodes.ACC_PUBLIC | Opcodes.ACC_SUPER, name, null, "java/lang/Object", new String[] {"java/util/function/IntConsumer"});
    MethodVisitor constructor = writer.visitMethod(Opcodes.ACC_PUBLIC, "<init>", "()V", null, null);
    constructor.visitVarInsn(Opcodes.ALOAD, 0);
    constructor.visitMethodInsn(Opcodes.INVOKESPECIAL, "java/lang/Object", "<init>", "()V", false);
    constructor.visitInsn(Opcodes.RETURN);
    constructor.visitMaxs(0, 0);
    MethodVisitor accept = writer.visitMethod(Opcodes.ACC_PUBLIC, "accept", "(I)V", null, null);
    Label[] cases = Stream.generate(Label::new).limit(calls.size()).toArray(Label[]::new);
    Label other = new Label();
    accept.visitVarInsn(Opcodes.ILOAD, 1);
    accept.visitTableSwitchInsn(0, cases.length - 1, other, cases);
    for (int i = 0; i < cases.length; i++) {
      String[] fields = calls.get(i);
      boolean isInterface = fields[0].startsWith("interface");
      accept.visitLabel(cases[i]);
      accept.visitInsn(Opcodes.ACONST_NULL);
      Stream.of(Type.getArgumentTypes(fields[3])).forEach(type -> accept.visitInsn(ZERO[type.getSort()]));
      accept.visitMethodInsn(isInterface ? Opcodes.INVOKEINTERFACE : Opcodes.INVOKEVIRTUAL, fields[1].replace('.', '/'), fields[2], fields[3], isInterface);
      accept.visitInsn(Opcodes.RETURN);
    }
    accept.visitLabel(other);
    accept.visitInsn(Opcodes.RETURN);
    accept.visitMaxs(0, 0);
    return writer.toByteArray();
  }

  private void addUses(ClassNode node) {
    String name = node.name.replaceFirst("^org/sparkrdma/shuffle/", "");
    part = PARTS.keySet().stream().filter(one -> PARTS.get(one).stream().anyMatch(name::startsWith)).findFirst().orElse("client");
    addType("class", node.superName);
    node.interfaces.forEach(type -> addType("interface", type));
    boolean isConcrete = (node.access & (Opcodes.ACC_ABSTRACT | Opcodes.ACC_INTERFACE)) == 0;
    if (isConcrete && (isForeign(node.superName) || node.interfaces.stream().anyMatch(ListLinks::isForeign))) {
      add("own", node.name.replace('/', '.'));
    }
    for (MethodNode method : node.methods) {
      method.instructions.forEach(this::addUse);
      method.tryCatchBlocks.stream().filter(block -> block.type != null).forEach(block -> addType("type", block.type));
    }
  }

  private void addUse(AbstractInsnNode instruction) {
    int opcode = instruction.getOpcode();
    if (instruction instanceof TypeInsnNode use) {
      addType("type", use.desc);
    } else if (instruction instanceof LdcInsnNode use && use.cst instanceof Type type && type.getSort() == Type.OBJECT) {
      addType("type", type.getInternalName());
    } else if (instruction instanceof FieldInsnNode use) {
      addMember("field", use.owner, use.name, use.desc, opcode == Opcodes.GETSTATIC || opcode == Opcodes.PUTSTATIC);
    } else if (instruction instanceof MethodInsnNode use) {
      addMember(use.itf ? "interface-method" : "method", use.owner, use.name, use.desc, opcode == Opcodes.INVOKESTATIC);
    } else if (instruction instanceof InvokeDynamicInsnNode use) {
      addLambda(use);
    }
  }

  /** The method of the functional interface, and the one that is called. */
  private void addLambda(InvokeDynamicInsnNode use) {
    for (Object argument : use.bsmArgs) {
      if (argument instanceof Handle handle) {
        boolean isStatic = handle.getTag() == Opcodes.H_INVOKESTATIC;
        addMember(handle.isInterface() ? "interface-method" : "method", handle.getOwner(), handle.getName(), handle.getDesc(), isStatic);
      }
    }
    if (use.bsmArgs.length > 0 && use.bsmArgs[0] instanceof Type erased && erased.getSort() == Type.METHOD) {
      addMember("interface-method", Type.getReturnType(use.desc).getInternalName(), use.name, erased.getDescriptor(), false);
    }
  }

  private void addType(String kind, String internalName) {
    String element = internalName.replaceFirst("^\\[+L?", "").replace(";", "");
    if (element.length() > 1 && isForeign(element)) {
      add(kind, element.replace('/', '.'));
    }
  }

  private void addMember(String kind, String owner, String name, String descriptor, boolean isStatic) {
    String declaring = declaring(owner, name + descriptor);
    if (declaring != null && !declaring.startsWith("[") && isForeign(declaring)) {
      add(kind, declaring.replace('/', '.'), name, descriptor, isStatic ? "static" : "instance");
    }
  }

  /** The supertype of others from which a class has a member, the nearest that may; null when the member is ours. */
  private String declaring(String owner, String member) {
    ClassNode type = own.get(owner);
    if (type == null) {
      return owner;
    }
    if (type.methods.stream().anyMatch(one -> member.equals(one.name + one.desc)) || type.fields.stream().anyMatch(one -> member.equals(one.name + one.desc))) {
      return null;
    }
    List<String> above = Stream.concat(Stream.of(type.superName), type.interfaces.stream()).map(one -> String.valueOf(declaring(one, member))).toList();
    return above.contains("null") ? null : above.stream().filter(ListLinks::isForeign).findFirst().orElse(null);
  }

  private void add(String... fields) {
    lines.add(part + "\t" + String.join("\t", fields));
  }

  private static boolean isForeign(String owner) {
    return OTHERS.stream().noneMatch(owner::startsWith);
  }
}
