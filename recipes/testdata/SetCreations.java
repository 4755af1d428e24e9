import java.io.File;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.server.DataNode;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;

/** Sets how many children a node has ever had, in the data of a server that is stopped: data folder, path, number. */
public class SetCreations {
    public static void main(String[] args) throws Exception {
        File folder = new File(args[0]);
        FileTxnSnapLog files = new FileTxnSnapLog(folder, folder);
        DataTree tree = new DataTree();
        ConcurrentHashMap<Long, Integer> sessions = new ConcurrentHashMap<>();
        files.restore(tree, sessions, (header, record, digest) -> { });
        DataNode node = tree.getNode(args[1]);
        node.stat.setCversion(Integer.parseInt(args[2]));
        files.save(tree, sessions, true);
        files.close();
    }
}
