import java.io.FileInputStream;
import java.io.IOException;
import lathe.digits.Model;
import org.example.digitreader.DigitReader;
import org.example.digitreader.Pictures;

/** The app without Android, on the machine that builds it. The argument is the folder that holds the model. */
public final class ReadDigit {
    public static void main(String[] arguments) throws IOException {
        String folder = arguments[0];
        Model model = Model.fromStreams(
                new FileInputStream(folder + "/digits.pb"), new FileInputStream(folder + "/digits.data"));
        try (DigitReader reader = new DigitReader(model)) {
            System.out.println(reader.read(Pictures.SEVEN));
        }
    }
}
